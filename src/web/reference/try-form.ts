import { codeChoice } from '../pages/code-block.js';
import { type Html, html } from '../pages/html.js';
import { bodyExamplesOf, isPublic, type LocatedOperation, type Parameter } from './parts/openapi-parts.js';
import { operationSamples, SAMPLE_VALUES } from './samples.js';

/** The request as code, and a form that changes the code and sends the request. The form needs a script. */
export function tryForm(operation: LocatedOperation, origin: string): Html {
  const { method, path, parameters = [], summary } = operation;
  const [[, example] = []] = bodyExamplesOf(operation);
  return html`<form class="try" data-method="${method}" data-path="${path}" data-origin="${origin}"${
    isPublic(operation) && html` data-public`
  } aria-label="${summary}">
${codeChoice('request', 'Request', operationSamples(operation, origin), 'language')}<div class="try-fields" hidden>
${parameters.map(field)}${
  example !== undefined &&
  html`<div class="field"><label for="try-body">Body</label>
<textarea id="try-body" spellcheck="false" rows="5">${JSON.stringify(example.value, null, 2)}</textarea></div>`
}
<button class="primary" type="submit" aria-label="Send request: ${summary}">Send request</button>
</div></form>`;
}

function field({ name, in: place, required = false, schema }: Parameter): Html {
  const id = `try-${name}`;
  const sample = SAMPLE_VALUES[name];
  const label = html`<label for="${id}"><code>${name}</code>${!required && html` <span class="muted">optional</span>`}</label>\n`;
  if (schema.enum) {
    return html`<div class="field">${label}<select id="${id}" name="${name}" data-in="${place}">
${!required && html`<option value="">any</option>`}${schema.enum.map(
  (value) => html`<option${value === sample && html` selected`}>${String(value)}</option>`,
)}</select></div>
`;
  }
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  // No sample is the id of a pet of the reader's.
  const begin =
    sample !== undefined && (required ? html` placeholder="${sample}"` : html` value="${sample}"`);
  return html`<div class="field">${label}<input id="${id}" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"${begin}${
    isNumber && html` inputmode="numeric"`
  }${required && html` required`}></div>
`;
}
