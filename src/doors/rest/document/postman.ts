import { hash } from 'node:crypto';

interface Parameter {
  name: string;
  in: string;
  description: string;
  schema: { default?: unknown; examples?: readonly unknown[] };
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security?: readonly object[];
  parameters?: readonly Parameter[];
  requestBody?: { content: { 'application/json': { examples: Record<string, { value: unknown }> } } };
}

/** The parts of our OpenAPI document that a collection is made of. */
export interface PostmanSource {
  info: { title: string; description: string };
  servers: readonly { url: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * The Postman collection (v2.1) of an OpenAPI document. Each request works as it is, once a key is entered; optional query
 * parameters are switched off. D-271.
 */
export function postmanCollection({ info, servers, paths }: PostmanSource): object {
  const ids = createdIds(paths);
  return {
    info: {
      _postman_id: uuidOf(info.title),
      name: info.title,
      description: `${info.description}\n\nEnter the key as the variable \`apiKey\` of this collection.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: servers[0]?.url },
      { key: 'apiKey', value: '' },
      ...[...ids.values()].map((key) => ({ key, value: '' })),
    ],
    item: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => itemOf(path, method, operation, ids)),
    ),
  };
}

/** The parameter that names what a POST creates, such as `bookId`, by the path of the POST. */
function createdIds(paths: PostmanSource['paths']): Map<string, string> {
  const named = Object.keys(paths).map((path) => /^(.+)\/\{(\w+)\}$/.exec(path)?.slice(1) ?? []);
  return new Map(named.flatMap(([parent = '', id]) => (id && paths[parent]?.post ? [[parent, id]] : [])));
}

function itemOf(path: string, method: string, operation: Operation, ids: Map<string, string>): object {
  const { operationId, summary, description, security, parameters = [], requestBody } = operation;
  const [body] = Object.values(requestBody?.content['application/json'].examples ?? {});
  const created = method === 'post' ? ids.get(path) : undefined;
  const keepId = `if (pm.response.code === 201) pm.collectionVariables.set('${created}', pm.response.json().id);`;
  const segments = path.slice(1).replaceAll(/\{(\w+)\}/g, ':$1');
  const entries = (place: string, more: (parameter: Parameter) => object) =>
    parameters.filter((each) => each.in === place).map((each) => ({ ...entryOf(each), ...more(each) }));
  return {
    id: uuidOf(operationId),
    name: summary,
    ...(created && { event: [{ listen: 'test', script: { type: 'text/javascript', exec: [keepId] } }] }),
    request: {
      method: method.toUpperCase(),
      // Its links lead to pages of the gateway.
      description: description.replace(/\[([^\]]*)\]\(\/[^)]*\)/g, '$1'),
      ...(security?.length === 0 && { auth: { type: 'noauth' } }),
      header: [
        { key: 'Accept', value: 'application/json' },
        ...(body ? [{ key: 'Content-Type', value: 'application/json' }] : []),
        // Another value with each send: with a constant one, every later request repeats the first.
        ...entries('header', ({ name }) =>
          name === 'Idempotency-Key' ? { value: '{{$guid}}' } : { disabled: true },
        ),
      ],
      ...(body && {
        body: { mode: 'raw', raw: laidOut(body.value), options: { raw: { language: 'json' } } },
      }),
      url: {
        raw: `{{baseUrl}}/${segments}`,
        host: ['{{baseUrl}}'],
        path: segments.split('/'),
        query: entries('query', () => ({ disabled: true })),
        variable: entries('path', ({ name }) =>
          [...ids.values()].includes(name) ? { value: `{{${name}}}` } : {},
        ),
      },
    },
  };
}

function entryOf({ name, description, schema: { default: byDefault, examples = [byDefault] } }: Parameter) {
  return { key: name, value: String(examples[0] ?? ''), description };
}

const laidOut = (value: unknown) => JSON.stringify(value, null, 2);

/** The same for the same name: Postman replaces a collection that it imports again. */
function uuidOf(name: string): string {
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(hash('sha256', name)) ?? [];
  return parts.join('-');
}
