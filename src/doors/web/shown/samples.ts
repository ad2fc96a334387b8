import type { Language } from './highlight.js';

/** A request as the samples show it, and as the form sends it. */
export interface SampleRequest {
  method: string;
  /** Absolute, with its path parameters. */
  url: string;
  query: [name: string, value: string][];
  /** Without the key and the type of the body. */
  headers: [name: string, value: string][];
  needsKey: boolean;
  /** JSON; null = none. */
  body: string | null;
}

interface Sample {
  label: string;
  language: Language;
  text: string;
}

const IMPORT_ENV = "import { env } from 'node:process';\n\n";

/** The request in curl, JavaScript and Python. The key comes from the environment. */
export function samplesOf(request: SampleRequest): Sample[] {
  return [
    { label: 'curl', language: 'shell', text: curl(request) },
    { label: 'fetch', language: 'javascript', text: fetchCall(request) },
    { label: 'Python', language: 'python', text: python(request) },
  ];
}

/** The URL with its query. */
export function addressOf({ url, query }: SampleRequest): string {
  return query.length === 0 ? url : `${url}?${new URLSearchParams(query)}`;
}

function curl(request: SampleRequest): string {
  const { method, headers, needsKey, body } = request;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${inShell(addressOf(request))}`];
  if (needsKey) lines.push('-H "Authorization: Bearer $API_KEY"');
  lines.push(...headers.map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`));
  if (body !== null) {
    const fields = fieldsOf(body);
    const text = fields ? JSON.stringify(Object.fromEntries(fields)) : body;
    lines.push('-H "Content-Type: application/json"', `-d '${text.replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n  ');
}

function fetchCall(request: SampleRequest): string {
  const { method, needsKey, body } = request;
  const headers = [
    ...(needsKey ? [`Authorization: \`Bearer \${env.API_KEY}\``] : []),
    ...request.headers.map(([name, value]) => `'${name}': ${inJavaScript(value)}`),
    ...(body === null ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers.map((line) => `    ${line},`), '  },']),
    ...(body === null ? [] : [`  body: ${bodyInJavaScript(body)},`]),
  ];
  const init = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `${needsKey ? IMPORT_ENV : ''}const response = await fetch(${inJavaScript(addressOf(request))}${init});
if (!response.ok) throw new Error(await response.text());${hasAnswer(method) ? '\nconst answer = await response.json();' : ''}`;
}

function python(request: SampleRequest): string {
  const { method, url, needsKey, body } = request;
  const fields = body === null ? null : fieldsOf(body);
  const entry = ([name, value]: [string, string | number]) => `"${name}": ${JSON.stringify(value)}`;
  const headers = [
    ...(needsKey ? [`"Authorization": f"Bearer {os.environ['API_KEY']}"`] : []),
    ...request.headers.map(entry),
    ...(body !== null && !fields ? ['"Content-Type": "application/json"'] : []),
  ];
  const block = (name: string, entries: string[]) =>
    entries.length === 0 ? [] : [`    ${name}={`, ...entries.map((each) => `        ${each},`), '    },'];
  const lines = [
    `    "${url}",`,
    ...block('params', request.query.map(entry)),
    ...block('headers', headers),
    ...(fields ? [`    json={${fields.map(entry).join(', ')}},`] : []),
    ...(body !== null && !fields ? [`    data=${JSON.stringify(body)}.encode(),`] : []),
    '    timeout=10,',
  ];
  return `${needsKey ? 'import os\n\n' : ''}import requests

response = requests.${method.toLowerCase()}(
${lines.join('\n')}
)
response.raise_for_status()${hasAnswer(method) ? '\nanswer = response.json()' : ''}`;
}

/** A DELETE is answered without a body. */
const hasAnswer = (method: string) => method !== 'DELETE';

function inShell(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}

function inJavaScript(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function bodyInJavaScript(body: string): string {
  const fields = fieldsOf(body);
  if (!fields) return inJavaScript(body);
  const value = (each: string | number) => (typeof each === 'string' ? inJavaScript(each) : each);
  return `JSON.stringify({ ${fields.map(([name, each]) => `${name}: ${value(each)}`).join(', ')} })`;
}

/** The fields of a flat object; null = any other text, or an integer of which JavaScript would lose digits. */
function fieldsOf(body: string): [name: string, value: string | number][] | null {
  try {
    const value = JSON.parse(body);
    const fields = Object.entries<string | number>(value);
    const isFlat = fields.every(
      ([name, each]) => /^[a-z]\w*$/i.test(name) && ['string', 'number'].includes(typeof each),
    );
    // Outside of strings, spaces may go.
    const isExact = JSON.stringify(value) === body.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
    return isFlat && isExact ? fields : null;
  } catch {
    return null;
  }
}
