import { type Html, html } from './html.js';
import {
  exampleOf,
  type LocatedOperation,
  nameOfRef,
  type OpenApi,
  type Parameter,
  type Schema,
} from './openapi-parts.js';
import { describe, fieldsOf, prose, typeOf } from './reference-schema.js';

/** Where the paths of the document begin. */
const PREFIX = '/v1';

/** One operation: what it takes, what it answers, and a form to try it. */
export function operationSection(operation: LocatedOperation, document: OpenApi): Html {
  const { operationId, method, path, summary, description, deprecated, parameters = [] } = operation;
  const body = bodyOf(operation);
  return html`<section id="${operationId}" aria-labelledby="${operationId}-name">
<h2 id="${operationId}-name">${summary}</h2>
<p><code class="method">${method}</code> <code>${PREFIX}${path}</code>${
    deprecated === true && html` <strong class="badge">deprecated</strong>`
  }${operation['x-stability'] !== undefined && html` <span class="badge">${operation['x-stability']}</span>`}</p>
${prose(description)}${isPublic(operation) && html`<p>Needs no key and spends nothing.</p>`}
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3>
<dl>
${parameters.map(parameterEntry)}</dl>`
}${
  body &&
  html`<h3>Body</h3>
<p>${typeOf(body)}</p>
${fieldsOf(body)}`
}
<h3>Answers</h3>
${Object.entries(operation.responses).map(([status, response]) => answer(status, response, document))}
${tryForm(operation, body, document)}
</section>
`;
}

function parameterEntry({ name, in: place, required = false, description, schema }: Parameter): Html {
  const described = description === undefined ? schema : { ...schema, description };
  return describe(`${name} (${place})`, described, required);
}

function answer(status: string, response: LocatedOperation['responses'][string], document: OpenApi): Html {
  const schema = response.content?.['application/json']?.schema;
  const headers = Object.keys(response.headers ?? {});
  return html`<details>
<summary><code>${status}</code>${schema?.$ref !== undefined && ` ${nameOfRef(schema.$ref)}`}</summary>
${prose(response.description)}${schema !== undefined && html`<p>Body: ${typeOf(schema)}</p>`}${
  headers.length > 0 &&
  html`<dl>
${headers.map(
  (name) => html`<dt><code>${name}</code></dt>
<dd>${prose(document.components.headers[name]?.description)}</dd>
`,
)}</dl>`
}</details>
`;
}

function tryForm(operation: LocatedOperation, body: Schema | null, document: OpenApi): Html {
  const { operationId, method, path, parameters = [], summary } = operation;
  const example = body && JSON.stringify(exampleOf(body, document), null, 2);
  return html`<form class="try" hidden data-method="${method}" data-path="${PREFIX}${path}"${
    isPublic(operation) && html` data-public`
  }>
<h3>Try it</h3>
${parameters.map((parameter) => field(`${operationId}-${parameter.name}`, parameter))}${
  example !== null &&
  html`<label for="${operationId}-body">Body</label>
<textarea id="${operationId}-body" spellcheck="false">${example}</textarea>`
}
<button type="submit" aria-label="Send: ${summary}">Send</button>
<div class="answer" role="status"></div>
</form>`;
}

function field(id: string, { name, in: place, required = false, schema }: Parameter): Html {
  const label = html`<label for="${id}">${name}${!required && html` <span class="quiet">(optional)</span>`}</label>\n`;
  if (schema.enum) {
    return html`${label}<select id="${id}" name="${name}" data-in="${place}">
${!required && html`<option value="">any</option>`}${schema.enum.map((value) => html`<option>${String(value)}</option>`)}</select>
`;
  }
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return html`${label}<input id="${id}" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"${
    isNumber && html` inputmode="numeric"`
  }${required && html` required`}>
`;
}

function bodyOf({ requestBody }: LocatedOperation): Schema | null {
  return requestBody?.content['application/json']?.schema ?? null;
}

function isPublic({ security }: LocatedOperation): boolean {
  return security?.length === 0;
}
