import { codeBlock } from '../markup/code-block.js';
import { type Html, html } from '../markup/html.js';
import {
  type Contract,
  examplesOf,
  type LocatedOperation,
  laidOut,
  nameOfRef,
  SAMPLE_ORIGIN,
  schemaOf,
} from './contract.js';
import { prose } from './markdown.js';
import { endpoint, marks, operationSamples } from './operation-page.js';
import { fieldsOf, typeOf } from './schema-fields.js';

const conventions = ({ names }: Contract) => `
- Requests and answers are \`application/json\` in UTF-8. Times in headers are Unix times in seconds, or HTTP dates.
- An integer of the format \`int64\` may have 19 digits. \`JSON.parse\` in JavaScript rounds it above 2^53: [what keeps every digit](/v1/docs/numbers) depends on the tool. Python and Java read it exactly.
- Lists come in [pages](/v1/docs/pagination). Writes can be [repeated safely](/v1/docs/idempotency). Every answer shows the remaining [quota](/v1/docs/limits).
- Unknown fields and query parameters are ignored; \`${names.ignoredParameters}\` names the parameters. \`HEAD\` works wherever \`GET\` does.
`;

/** The first page: the addresses, a first request, and every operation. A script of the page adds further addresses. */
export function introductionBody(contract: Contract, name: string): Html {
  const { info, operations } = contract;
  const [first] = operations;
  return html`<div class="columns">
<div>
<h1><bdi>${name}</bdi></h1>
<p class="lead">REST API reference, version ${info.version}. ${info.summary}</p>
<dl class="needs" id="addresses"><div><dt>Base address</dt><dd><code>${SAMPLE_ORIGIN}/v1</code></dd></div></dl>
<p>For programs: <a href="/v1/openapi.json">OpenAPI 3.1 document</a>, <a href="/v1/postman.json">Postman collection</a></p>
<h2 id="first">First request</h2>
<p>Put an <a href="/v1/docs/authentication">API key</a> into the environment, then run the request beside this text.</p>
<h2 id="operations">Operations</h2>
<table>
<thead><tr><th scope="col">Request</th><th scope="col">What it does</th></tr></thead>
<tbody>
${operations.map(operationRow)}</tbody>
</table>
<h2 id="conventions">Conventions</h2>
${prose(info.description)}
${prose(conventions(contract))}
</div>
<div class="shown">
${first !== undefined && operationSamples(first, contract, 'First request')}
</div>
</div>`;
}

function operationRow(operation: LocatedOperation): Html {
  const { operationId, summary } = operation;
  return html`<tr><th scope="row">${endpoint(operation)}</th>
<td><a href="/v1/docs/${operationId}">${summary}</a>${marks(operation)}</td></tr>
`;
}

/** Every schema of the document, with its fields and an example. */
export function objectsBody({ components, operations }: Contract): Html {
  const bodies = operations.flatMap(({ requestBody, responses }) => [
    requestBody ?? {},
    ...Object.values(responses),
  ]);
  return html`<h1>Objects</h1>
<p class="lead">What requests and answers are made of. A field without <em>required</em> may be absent.</p>
${Object.entries(components.schemas).map(([name, schema]) => {
  const having = bodies.find((body) => nameOfRef(schemaOf(body)?.$ref ?? '') === name);
  const [[, example] = []] = examplesOf(having ?? {});
  return html`<div class="columns object">
<div><h2 id="${name}">${name}</h2>
${prose(schema.description ?? '')}${fieldsOf(schema) ?? html`<p>${typeOf(schema)}</p>`}</div>
<div class="shown">${
    example && codeBlock({ label: `Example of ${name}`, language: 'json', text: laidOut(example.value) })
  }</div>
</div>
`;
})}`;
}
