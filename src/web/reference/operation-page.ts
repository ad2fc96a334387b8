import { codeBlock, codeChoice } from '../pages/code-block.js';
import { type Html, html } from '../pages/html.js';
import { headersSection, responsesTable } from './operation-responses.js';
import {
  bodyExamplesOf,
  bodySchemaOf,
  examplesOf,
  isPublic,
  type LocatedOperation,
  type OpenApi,
  scopesOf,
} from './parts/openapi-parts.js';
import { describe, fieldsOf, prose, typeOf } from './parts/schema-fields.js';
import { tryForm } from './try-form.js';

/** An operation: what it needs and answers on the left, requests and answers to copy on the right. */
export function operationBody(operation: LocatedOperation, document: OpenApi, origin: string): Html {
  const { method, path, summary, description, parameters = [] } = operation;
  const body = bodySchemaOf(operation);
  return html`<header class="operation-head">
<h1>${summary}</h1>
<p class="endpoint"><span class="method method-${method.toLowerCase()}">${method}</span> <code>${path}</code>${marks(operation)}</p>
${prose(description)}
${needs(operation)}</header>
<div class="operation-columns">
<div class="operation-told">
${
  parameters.length > 0 &&
  html`<section aria-labelledby="parameters"><h2 id="parameters">Parameters</h2>
<dl class="fields">
${parameters.map(({ name, in: place, required = false, description: about, schema }) =>
  describe(name, about === undefined ? schema : { ...schema, description: about }, required, place),
)}</dl></section>
`
}${
  body &&
  html`<section aria-labelledby="body"><h2 id="body">Request body</h2>
<p>${typeOf(body)}, as <code>application/json</code> in UTF-8, of at most 100 KB and 5,000 values. Unknown fields are ignored.</p>
${fieldsOf(resolved(body, document))}</section>
`
}<section aria-labelledby="responses"><h2 id="responses">Responses</h2>
${responsesTable(operation)}</section>
${headersSection(operation, document)}
</div>
<div class="operation-shown">
${tryForm(operation, origin)}<div class="answers">${answers(operation)}${liveAnswer()}</div>${bodyExamples(operation)}
</div>
</div>`;
}

/** The labels of an operation that is deprecated or not final. */
export function marks(operation: LocatedOperation): Html {
  const stability = operation['x-stability'];
  return html`${operation.deprecated === true && html` <a class="badge badge-warn" href="/v1/docs/versions#deprecated">deprecated</a>`}${
    stability !== undefined &&
    html` <a class="badge badge-busy" href="/v1/docs/versions#${stability}">${stability}</a>`
  }`;
}

function needs(operation: LocatedOperation): Html {
  const scopes = scopesOf(operation);
  const key = isPublic(operation)
    ? html`No API key. An address may send 600 such requests a minute.`
    : html`An <a href="/v1/docs/authentication">API key</a>${
        scopes.length > 0 && html` with the scope ${scopes.map((scope) => html`<code>${scope}</code>`)}`
      }.`;
  const stability = operation['x-stability'];
  return html`<dl class="needs">
<div><dt>Needs</dt><dd>${key}</dd></div>
<div><dt>Costs</dt><dd>${scopes.length > 0 ? html`1 unit of the <a href="/v1/docs/limits">quota</a>.` : 'Nothing of the quota.'}</dd></div>
${
  operation.deprecated === true &&
  html`<div><dt>Removed on</dt><dd>${operation['x-deprecated-sunset'] ?? 'a date to be announced'}. From then on it answers <code>410</code>.</dd></div>\n`
}${
  stability === 'beta' &&
  html`<div><dt>Beta</dt><dd>It works and is supported. Fields may still change before it becomes final: <a href="/v1/docs/versions#beta">what beta means</a>.</dd></div>\n`
}</dl>
`;
}

function bodyExamples(operation: LocatedOperation): Html | null {
  const examples = bodyExamplesOf(operation);
  if (examples.length === 0) return null;
  const options = examples.map(([, { summary, value }]) => ({
    label: summary ?? 'Example',
    language: 'json' as const,
    text: JSON.stringify(value, null, 2),
  }));
  return codeChoice('body-example', 'Request body', options);
}

/** An answer to each status and code, the successes first. */
function answers({ responses }: LocatedOperation): Html | null {
  const options = Object.entries(responses).flatMap(([status, response]) => {
    const examples = examplesOf(response);
    return examples.map(([name, { summary, value }]) => ({
      label: examples.length === 1 ? status : `${status} ${name}`,
      language: 'json' as const,
      text: JSON.stringify(value, null, 2),
      ...(summary !== undefined && (status >= '400' || examples.length > 1) ? { note: summary } : {}),
    }));
  });
  if (options.length === 0) return null;
  return options.length === 1 && options[0]
    ? codeBlock({ ...options[0], label: `Answer ${options[0].label}` })
    : codeChoice('answer', 'Answer', options);
}

/** Stands in the place of the examples once the form has been sent. */
function liveAnswer(): Html {
  return html`<figure class="code live" hidden><figcaption class="code-name">Answer</figcaption>
<button type="button" class="quiet small copy back">Examples</button>
<pre class="lang-json" tabindex="0" role="region" aria-label="Answer"><code></code></pre>
<details><summary>Headers</summary><pre class="lang-http" tabindex="0" role="region" aria-label="Headers"><code></code></pre></details>
</figure>`;
}

function resolved(schema: { $ref?: string }, document: OpenApi) {
  const name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
  return (name === undefined ? undefined : document.components.schemas[name]) ?? schema;
}
