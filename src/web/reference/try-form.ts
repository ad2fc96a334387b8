import { type Html, html } from '../pages/html.js';
import { bodyExamplesOf, isPublic, type LocatedOperation, type Parameter } from './parts/openapi-parts.js';

/** A form that sends the operation to the host of the page. Hidden until a script makes it work. */
export function tryForm(operation: LocatedOperation): Html {
  const { method, path, parameters = [], summary } = operation;
  const [[, example] = []] = bodyExamplesOf(operation);
  return html`<form class="try" hidden data-method="${method}" data-path="${path}"${
    isPublic(operation) && html` data-public`
  } aria-labelledby="try-name">
<h2 id="try-name">Try it</h2>
${parameters.map(field)}${
  example !== undefined &&
  html`<div class="field"><label for="try-body">Body</label>
<textarea id="try-body" spellcheck="false" rows="5">${JSON.stringify(example.value, null, 2)}</textarea></div>`
}
<button class="primary" type="submit" aria-label="Send request: ${summary}">Send request</button>
<div class="answer" role="status"></div>
</form>`;
}

function field({ name, in: place, required = false, schema }: Parameter): Html {
  const id = `try-${name}`;
  const label = html`<label for="${id}"><code>${name}</code>${!required && html` <span class="muted">optional</span>`}</label>\n`;
  if (schema.enum) {
    return html`<div class="field">${label}<select id="${id}" name="${name}" data-in="${place}">
${!required && html`<option value="">any</option>`}${schema.enum.map((value) => html`<option>${String(value)}</option>`)}</select></div>
`;
  }
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return html`<div class="field">${label}<input id="${id}" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"${
    isNumber && html` inputmode="numeric"`
  }${required && html` required`}></div>
`;
}
