import type { Code } from '../pages/code-block.js';
import { bodyExamplesOf, isPublic, type LocatedOperation, type Parameter } from './parts/openapi-parts.js';

interface SampleRequest {
  method: string;
  /** Absolute, with its path parameters. */
  url: string;
  query: [name: string, value: string | number][];
  headers: [name: string, value: string][];
  needsKey: boolean;
  body: object | null;
}

const IMPORT_ENV = "import { env } from 'node:process';\n\n";

/** Values of parameters in samples; a parameter that is not here is left out. */
const VALUES: Record<string, string | number> = {
  limit: 20,
  status: 'available',
  petId: 4711,
  'Idempotency-Key': '7b1f0c52-add-rex',
};

/** The operation as a request in curl, JavaScript and Python. The key comes from the environment. */
export function samplesOf(operation: LocatedOperation, origin: string): Code[] {
  const request = sampleRequest(operation, origin);
  return [
    { label: 'curl', language: 'shell', text: curl(request) },
    { label: 'fetch', language: 'javascript', text: fetchCall(request) },
    { label: 'Python', language: 'python', text: python(request) },
  ];
}

function sampleRequest(operation: LocatedOperation, origin: string): SampleRequest {
  const { method, path, parameters = [] } = operation;
  const known = (place: Parameter['in']) =>
    parameters.flatMap(({ name, in: at }): [string, string | number][] =>
      at === place && VALUES[name] !== undefined ? [[name, VALUES[name]]] : [],
    );
  const [[, example] = []] = bodyExamplesOf(operation);
  return {
    method,
    url: origin + known('path').reduce((at, [name, value]) => at.replace(`{${name}}`, String(value)), path),
    query: known('query'),
    headers: known('header').map(([name, value]) => [name, String(value)]),
    needsKey: !isPublic(operation),
    body: (example?.value as object | undefined) ?? null,
  };
}

function addressOf({ url, query }: SampleRequest): string {
  return query.length === 0 ? url : `${url}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

function curl(request: SampleRequest): string {
  const lines = [`curl ${request.method === 'GET' ? '' : `-X ${request.method} `}"${addressOf(request)}"`];
  if (request.needsKey) lines.push('-H "Authorization: Bearer $API_KEY"');
  lines.push(...request.headers.map(([name, value]) => `-H "${name}: ${value}"`));
  if (request.body) {
    lines.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(request.body)}'`);
  }
  return lines.join(' \\\n  ');
}

function fetchCall(request: SampleRequest): string {
  const headers = [
    ...(request.needsKey ? [`Authorization: \`Bearer \${env.API_KEY}\``] : []),
    ...request.headers.map(([name, value]) => `'${name}': '${value}'`),
    ...(request.body ? ["'Content-Type': 'application/json'"] : []),
  ];
  const options = [
    ...(request.method === 'GET' ? [] : [`  method: '${request.method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers.map((line) => `    ${line},`), '  },']),
    ...(request.body ? [`  body: JSON.stringify(${asJavaScript(request.body)}),`] : []),
  ];
  const init = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `${request.needsKey ? IMPORT_ENV : ''}const response = await fetch('${addressOf(request)}'${init});
if (!response.ok) throw new Error(await response.text());
const answer = await response.json();`;
}

function python(request: SampleRequest): string {
  const headers = [
    ...(request.needsKey ? [`"Authorization": f"Bearer {os.environ['API_KEY']}"`] : []),
    ...request.headers.map(([name, value]) => `"${name}": "${value}"`),
  ];
  const query = request.query.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  const block = (name: string, entries: string[]) =>
    entries.length === 0 ? [] : [`    ${name}={`, ...entries.map((entry) => `        ${entry},`), '    },'];
  const lines = [
    `    "${request.url}",`,
    ...block('params', query),
    ...block('headers', headers),
    ...(request.body ? [`    json=${asPython(request.body)},`] : []),
    '    timeout=10,',
  ];
  return `${request.needsKey ? 'import os\n\n' : ''}import requests

response = requests.${request.method.toLowerCase()}(
${lines.join('\n')}
)
response.raise_for_status()
answer = response.json()`;
}

function asJavaScript(body: object): string {
  const fields = Object.entries(body).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `{ ${fields.join(', ')} }`.replaceAll('"', "'");
}

function asPython(body: object): string {
  const fields = Object.entries(body).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{${fields.join(', ')}}`;
}
