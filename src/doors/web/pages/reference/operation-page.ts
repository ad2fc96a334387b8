import { filteredFieldsOf, SAMPLE_ID, sampleIdempotencyKey } from '../../../../noun-words.js';
import { samplesOf } from '../../shown/samples.js';
import { codeChoice } from '../markup/code-block.js';
import { type Html, html } from '../markup/html.js';
import * as openapi from './contract.js';
import { inline, prose } from './markdown.js';
import { describe, fieldsOf, typeOf } from './schema-fields.js';

const STATUS_NAMES: Record<string, string> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const ACTS: Readonly<Record<string, string>> = { PATCH: 'change', DELETE: 'delete' };

type Operation = openapi.LocatedOperation;

/** An operation: what it needs and answers on the left, requests and answers to copy on the right. */
export function operationBody(operation: Operation, contract: openapi.Contract): Html {
  const { summary, description, parameters = [], requestBody } = operation;
  const body = requestBody && openapi.schemaOf(requestBody);
  return html`<header class="operation-head">
<h1>${summary}</h1>
<p>${endpoint(operation)}${marks(operation)}</p>
${prose(description)}
${needs(operation)}</header>
<div class="columns">
<div>
${
  parameters.length > 0 &&
  html`<h2 id="parameters">Parameters</h2>
<dl class="fields">
${parameters.map(({ name, in: place, required, description: about, schema }) =>
  describe(name, { ...schema, description: about }, required, `in the ${place}`),
)}</dl>
`
}${
  body !== undefined &&
  html`<h2 id="body">Request body</h2>
<p>${typeOf(body)}, as <code>application/json</code> in UTF-8, of at most 100 KB and 5,000 values. Unknown fields are ignored.</p>
${fieldsOf(contract.components.schemas[openapi.nameOfRef(body.$ref ?? '')] ?? body)}
`
}<h2 id="responses">Responses</h2>
<table class="responses">
<thead><tr><th scope="col">Status</th><th scope="col">Code and meaning</th></tr></thead>
<tbody>
${Object.entries(operation.responses).map(responseRow)}</tbody>
</table>
<p class="hint">Each error has the body <a href="/v1/docs/objects#Error">Error</a>. What to do about each code: <a href="/v1/docs/errors">Errors</a>.</p>
${responseHeaders(operation, contract)}
</div>
<div class="shown">
${tryForm(operation, contract)}<div class="answers">${answers(operation)}${LIVE_ANSWER}</div>${bodyExamples(operation)}
</div>
</div>`;
}

export function endpoint({ method, path }: Operation): Html {
  const tone = method === 'GET' ? 'busy' : 'good';
  return html`<span class="method badge badge-${tone}">${method}</span> <code>${path}</code>`;
}

/** The labels of an operation that is deprecated or not final. */
export function marks({ deprecated = false, 'x-stability': stability }: Operation): Html {
  return html`${deprecated && html` <a class="badge badge-warn" href="/v1/docs/versions#deprecated">deprecated</a>`}${
    stability !== undefined &&
    html` <a class="badge badge-busy" href="/v1/docs/versions#${stability}">${stability}</a>`
  }`;
}

/** The operation with sample values, in curl, JavaScript and Python. The form of the operation begins with the same. */
export function operationSamples(operation: Operation, contract: openapi.Contract, name: string): Html {
  const { method, path, parameters = [] } = operation;
  const values = sampleValuesOf(operation, contract);
  const known = (place: openapi.Parameter['in']) =>
    parameters.flatMap(({ name, in: at }): [string, string][] => {
      const value = values[name];
      return at === place && value !== undefined ? [[name, value]] : [];
    });
  const samples = samplesOf({
    method,
    url:
      openapi.SAMPLE_ORIGIN +
      known('path').reduce((at, [name, value]) => at.replace(`{${name}}`, value), path),
    query: known('query'),
    headers: known('header'),
    needsKey: !openapi.isPublic(operation),
    body: openapi.bodyOf(operation),
  });
  return codeChoice('request', name, samples, 'language');
}

/** Values of an operation's parameters in samples and forms; a parameter that is not here is left out. */
function sampleValuesOf({ path, method }: Operation, { nouns }: openapi.Contract): Record<string, string> {
  const noun = nouns.find(({ plural }) => `${path}/`.startsWith(`/v1/${plural}/`)) ?? nouns[0];
  const chosen = filteredFieldsOf(noun).filter(({ field }) => field.kind === 'choice');
  return {
    limit: '20',
    ...Object.fromEntries(chosen.map(({ argument, field }) => [argument, field.example])),
    [`${noun.singular}Id`]: SAMPLE_ID,
    'Idempotency-Key': sampleIdempotencyKey(noun, ACTS[method]),
  };
}

function needs(operation: Operation): Html {
  const scopes = openapi.scopesOf(operation);
  const { deprecated = false, 'x-stability': stability, 'x-deprecated-sunset': sunset } = operation;
  const key = openapi.isPublic(operation)
    ? 'No API key. An address may send 600 such requests a minute.'
    : `An [API key](/v1/docs/authentication)${scopes.map((scope) => ` with the scope \`${scope}\``).join()}.`;
  const rows = [
    ['Needs', key],
    ['Costs', scopes.length > 0 ? '1 unit of the [quota](/v1/docs/limits).' : 'Nothing of the quota.'],
    deprecated && ['Removed on', `${sunset}. From then on it answers \`410\`.`],
    stability === 'beta' && [
      'Beta',
      'It works and is supported. Fields may still change before it becomes final: [what beta means](/v1/docs/versions#beta).',
    ],
  ].filter((row) => row !== false);
  return html`<dl class="needs">
${rows.map(([term = '', text = '']) => html`<div><dt>${term}</dt><dd>${inline(text)}</dd></div>\n`)}</dl>
`;
}

/** A status with each of its codes and their meanings. */
function responseRow([status, response]: [string, openapi.Response]): Html {
  const schema = openapi.schemaOf(response);
  const body = schema ? html` Body: ${typeOf(schema)}.` : ' No body.';
  const meanings = response.description.split('\n\n').map((paragraph) => {
    const [, code, meaning = ''] = /^`(\w+)`: (.*)$/s.exec(paragraph) ?? [];
    if (code === undefined) return html`<p>${inline(paragraph)}${body}</p>`;
    return html`<p><a href="/v1/docs/errors#${code}"><code>${code}</code></a> ${inline(meaning)}</p>\n`;
  });
  return html`<tr><th scope="row"><span class="status status-${status.slice(0, 1)}">${status}</span> <span class="hint">${STATUS_NAMES[status] ?? null}</span></th>
<td>${meanings}</td></tr>
`;
}

/** Every header of an operation's responses, and the statuses that have it. */
function responseHeaders({ responses }: Operation, { components }: openapi.Contract): Html {
  const statuses = Object.keys(responses);
  const rows = Object.entries(components.headers).flatMap(([name, { description, schema }]) => {
    const having = statuses.filter((status) => name in (responses[status]?.headers ?? {}));
    const where = having.length === statuses.length ? 'every status' : having.join(', ');
    return having.length === 0 ? [] : describe(name, { ...schema, description }, false, where);
  });
  return html`<h2 id="headers">Response headers</h2>
<details><summary>${rows.length} headers</summary>
<dl class="fields">
${rows}</dl></details>`;
}

/** The request as code, and a form that changes the code and sends the request. The form needs a script. */
function tryForm(operation: Operation, contract: openapi.Contract): Html {
  const { method, path, parameters = [], summary } = operation;
  const body = openapi.bodyOf(operation);
  const samples = sampleValuesOf(operation, contract);
  return html`<form class="try" data-method="${method}" data-path="${path}"${
    openapi.isPublic(operation) && html` data-public`
  } aria-label="${summary}">
${operationSamples(operation, contract, 'Request')}<div class="try-fields" hidden>
${parameters.map((parameter) => field(parameter, samples[parameter.name]))}${
  body !== null &&
  html`<div class="field"><label for="try-body">Body</label>
<textarea id="try-body" spellcheck="false" rows="5">${body}</textarea></div>`
}
<button class="primary" type="submit" aria-label="Send request: ${summary}">Send request</button>
</div></form>`;
}

function field({ name, in: place, required, schema }: openapi.Parameter, sample?: string): Html {
  const named = html`id="try-${name}" name="${name}" data-in="${place}"`;
  // The sample id is of no item of the reader.
  const begin = sample !== undefined && html` ${required ? 'placeholder' : 'value'}="${sample}"`;
  const input = html`<input ${named} autocomplete="off" spellcheck="false"${begin}${
    schema.type === 'integer' && html` inputmode="numeric"`
  }${required && html` required`}>`;
  const select = html`<select ${named}>
${!required && html`<option value="">any</option>`}${
  schema.enum?.map(
    (value) => html`<option${value === sample && html` selected`}>${String(value)}</option>`,
  ) ?? null
}</select>`;
  return html`<div class="field"><label for="try-${name}"><code>${name}</code>${!required && html` <span class="muted">optional</span>`}</label>
${schema.enum ? select : input}</div>
`;
}

function bodyExamples({ requestBody }: Operation): Html | null {
  if (!requestBody) return null;
  const options = openapi.examplesOf(requestBody).map(([, { summary, value }]) => ({
    label: summary,
    language: 'json' as const,
    text: openapi.laidOut(value),
  }));
  return codeChoice('body-example', 'Request body', options);
}

/** An answer to each status and code, the successes first. */
function answers({ responses }: Operation): Html | null {
  const options = Object.entries(responses).flatMap(([status, response]) => {
    const examples = openapi.examplesOf(response);
    return examples.map(([name, { summary, value }]) => ({
      label: examples.length === 1 ? status : `${status} ${name}`,
      language: 'json' as const,
      text: openapi.laidOut(value),
      ...(status >= '400' || examples.length > 1 ? { note: summary } : {}),
    }));
  });
  return codeChoice('answer', 'Answer', options);
}

/** Stands in the place of the examples once the form has been sent. */
const LIVE_ANSWER = html`<figure class="code live" hidden><figcaption class="code-name">Answer</figcaption>
<button type="button" class="quiet small copy back">Examples</button>
<pre class="lang-json" tabindex="0" role="region" aria-label="Answer"><code></code></pre>
<details><summary>Headers</summary><pre class="lang-http" tabindex="0" role="region" aria-label="Headers"><code></code></pre></details>
</figure>`;
