import { type Html, html } from '../pages/html.js';
import { type LocatedOperation, nameOfRef, type OpenApi, type Response } from './parts/openapi-parts.js';
import { inline, typeOf } from './parts/schema-fields.js';

const NAMES: Record<string, string> = {
  200: 'OK',
  201: 'Created',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Every status of an operation with each of its codes and their meanings. */
export function responsesTable({ responses }: LocatedOperation): Html {
  return html`<table class="responses">
<thead><tr><th scope="col">Status</th><th scope="col">Code and meaning</th></tr></thead>
<tbody>
${Object.entries(responses).map(
  ([
    status,
    response,
  ]) => html`<tr><th scope="row"><span class="status status-${status.slice(0, 1)}">${status}</span> <span class="status-name">${NAMES[status] ?? null}</span></th>
<td>${meanings(status, response)}</td></tr>
`,
)}</tbody>
</table>
<p class="hint">Each error has the body <a href="/v1/docs/objects#Error">Error</a>. What to do about each code: <a href="/v1/docs/errors">Errors</a>.</p>`;
}

function meanings(status: string, { description, content }: Response): Html {
  if (status < '400') {
    const schema = content?.['application/json']?.schema;
    const body = schema ? html` Body: ${typeOf(schema)}.` : html` No body.`;
    return html`<p>${inline(description)}${body}</p>`;
  }
  return html`${description.split('\n\n').map((paragraph) => {
    const [code = '', meaning = ''] = paragraph.split(/: (.*)/s);
    return html`<p><a class="code-name" href="/v1/docs/errors#${code.replaceAll('`', '')}">${inline(code)}</a> ${inline(meaning)}</p>\n`;
  })}`;
}

/** Every header of an operation's responses, and the statuses that have it. */
export function headersSection({ responses }: LocatedOperation, { components }: OpenApi): Html {
  const statusesOf = new Map<string, string[]>();
  for (const [status, { headers = {} }] of Object.entries(responses)) {
    for (const { $ref } of Object.values(headers)) {
      const name = nameOfRef($ref);
      statusesOf.set(name, [...(statusesOf.get(name) ?? []), status]);
    }
  }
  const total = Object.keys(responses).length;
  return html`<section aria-labelledby="headers"><h2 id="headers">Response headers</h2>
<details><summary>${statusesOf.size} headers</summary>
<dl class="fields">
${[...statusesOf].map(([name, statuses]) => {
  const { description = '', schema } = components.headers[name] ?? {};
  const example = schema?.examples?.[0];
  const where = statuses.length === total ? 'every status' : statuses.join(', ');
  return html`<div class="field-row"><dt><code>${name}</code> <span class="field-type">${where}</span></dt>
<dd><p>${inline(description)}</p>${example !== undefined && html`<p class="field-rules"><span>Example: <code>${String(example)}</code></span></p>`}</dd></div>
`;
})}</dl></details></section>`;
}
