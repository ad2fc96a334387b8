import { codeBlock } from '../../pages/code-block.js';
import { html } from '../../pages/html.js';
import { operationsOf } from '../parts/openapi-parts.js';
import type { Guide } from './guide.js';

export const VERSIONS: Guide = {
  slug: 'versions',
  title: 'Versions and deprecation',
  lead: 'The address ends in the version. Within a version nothing that you use changes its meaning.',
  sections: ({ document }) => {
    const operations = operationsOf(document);
    const deprecated = operations.filter((operation) => operation.deprecated === true);
    const beta = operations.filter((operation) => operation['x-stability'] === 'beta');
    return [
      {
        id: 'compatible',
        title: 'What may change',
        body: html`<p>Version <code>${document.info.version}</code> is served at <code>/v1</code>. New fields, headers, optional parameters, operations and error codes may appear at any time: ignore what you do not know. A field is never renamed or removed, and never changes its type, without a deprecation first.</p>`,
      },
      {
        id: 'deprecated',
        title: 'Deprecated',
        body: html`<p>A deprecated operation works as before until its sunset. Each of its answers says so in three headers:</p>
${codeBlock({
  label: 'Headers of a deprecated operation',
  language: 'http',
  text: `Deprecation: @1764892800
Sunset: Thu, 05 Dec 2030 00:00:00 GMT
Link: <${document.servers[0]?.url ?? ''}/pets>; rel="successor-version"`,
})}
<p><code>Deprecation</code> is the Unix time at which it was deprecated, <code>Sunset</code> the date of its removal, and <code>Link</code> its replacement. After the sunset it answers <code>410</code> <code>gone</code>. Let your client log the header <code>Deprecation</code>.</p>
<ul>
${deprecated.map(
  (
    operation,
  ) => html`<li><a href="/v1/docs/${operation.operationId}">${operation.summary}</a>, <code>${operation.method} ${operation.path}</code>: removed on ${operation['x-deprecated-sunset'] ?? 'a date to be announced'}.</li>
`,
)}</ul>`,
      },
      {
        id: 'beta',
        title: 'Beta',
        body: html`<p>A beta operation works, is tested and is supported like any other. One thing differs: its fields may still change before it becomes final, without a deprecation. Use it, but read its answers tolerantly, and build nothing on it that you can't change. In the OpenAPI document it has <code>x-stability: beta</code>.</p>
<ul>
${beta.map(({ operationId, summary }) => html`<li><a href="/v1/docs/${operationId}">${summary}</a></li>\n`)}</ul>`,
      },
      {
        id: 'experimental',
        title: 'Experimental',
        body: html`<p>An experimental operation may change or disappear at any time. At present there is none.</p>`,
      },
    ];
  },
};
