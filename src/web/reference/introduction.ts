import { codeChoice } from '../pages/code-block.js';
import { type Html, html } from '../pages/html.js';
import { marks } from './operation-page.js';
import { type OpenApi, operationsOf } from './parts/openapi-parts.js';
import { inline, prose } from './parts/schema-fields.js';
import { operationSamples } from './samples.js';

/** The owner of the reference: a project has a name and one address; for the platform, the document has the addresses. */
export interface ReferenceOwner {
  name: string;
  origin: string;
}

/** The first page: the addresses, a first request, and every operation. */
export function introductionBody(document: OpenApi, owner: ReferenceOwner | null, origin: string): Html {
  const { info } = document;
  const operations = operationsOf(document);
  const [first] = operations;
  const servers = owner ? [{ url: `${owner.origin}/v1`, description: 'Base address' }] : document.servers;
  return html`<div class="operation-columns">
<div class="operation-told">
<h1><bdi>${owner?.name ?? info.title}</bdi></h1>
<p class="lead">REST API reference, version ${info.version}. ${info.summary ?? null}</p>
<dl class="needs">
${servers.map(({ url, description }) => html`<div><dt>${description ?? 'Base address'}</dt><dd><code>${url}</code></dd></div>\n`)}<div><dt>For programs</dt><dd><a href="/v1/openapi.json">OpenAPI 3.1 document</a></dd></div>
</dl>
<section aria-labelledby="first"><h2 id="first">First request</h2>
<p>Put an <a href="/v1/docs/authentication">API key</a> into the environment, then run the request beside this text.</p></section>
<section aria-labelledby="operations"><h2 id="operations">Operations</h2>
<table class="operations">
<thead><tr><th scope="col">Request</th><th scope="col">What it does</th></tr></thead>
<tbody>
${operations.map(
  (
    operation,
  ) => html`<tr><th scope="row"><span class="endpoint"><span class="method method-${operation.method.toLowerCase()}">${operation.method}</span> <code>${operation.path}</code></span></th>
<td><a href="/v1/docs/${operation.operationId}">${operation.summary}</a>${marks(operation)}</td></tr>
`,
)}</tbody>
</table></section>
<section aria-labelledby="conventions"><h2 id="conventions">Conventions</h2>
${prose(info.description)}
<ul>
<li>${inline('Requests and answers are `application/json` in UTF-8. Times in headers are Unix times in seconds, or HTTP dates.')}</li>
<li>${inline('An integer of the format `int64` may have 19 digits. `JSON.parse` in JavaScript rounds it above 2^53: use a parser that keeps every digit, such as `lossless-json`. Python and Java read it exactly.')}</li>
<li>Lists come in <a href="/v1/docs/pagination">pages</a>. Writes can be <a href="/v1/docs/idempotency">repeated safely</a>. Every answer shows the remaining <a href="/v1/docs/limits">quota</a>.</li>
<li>${inline('Unknown fields and query parameters are ignored; `Petstore-Ignored-Parameters` names the parameters. `HEAD` works wherever `GET` does.')}</li>
</ul></section>
</div>
<div class="operation-shown">
${first !== undefined && codeChoice('first-request', 'First request', operationSamples(first, origin), 'language')}
</div>
</div>`;
}
