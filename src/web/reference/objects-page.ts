import { codeBlock } from '../pages/code-block.js';
import { type Html, html } from '../pages/html.js';
import { examplesOf, type OpenApi, operationsOf } from './parts/openapi-parts.js';
import { fieldsOf, prose, typeOf } from './parts/schema-fields.js';

/** Every schema of the document, with its fields and an example. */
export function objectsBody(document: OpenApi): Html {
  const examples = examplesBySchema(document);
  return html`<h1>Objects</h1>
<p class="lead">What requests and answers are made of. A field without <em>required</em> may be absent.</p>
${Object.entries(document.components.schemas).map(([name, schema]) => {
  const example = examples.get(name);
  return html`<section id="${name}" class="object" aria-labelledby="${name}-name">
<div class="operation-told"><h2 id="${name}-name">${name}</h2>
${prose(schema.description)}${fieldsOf(schema) ?? html`<p>${typeOf(schema)}</p>`}</div>
<div class="operation-shown">${
    example !== undefined &&
    codeBlock({ label: `Example of ${name}`, language: 'json', text: JSON.stringify(example, null, 2) })
  }</div>
</section>
`;
})}`;
}

/** The first example of each schema, from the bodies that have it. */
function examplesBySchema(document: OpenApi): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const { requestBody, responses } of operationsOf(document)) {
    for (const body of [...(requestBody ? [requestBody] : []), ...Object.values(responses)]) {
      const [[, example] = []] = examplesOf(body);
      const name = body.content?.['application/json']?.schema.$ref?.split('/').at(-1);
      if (name !== undefined && example && !found.has(name)) found.set(name, example.value);
    }
  }
  return found;
}
