import { parse } from 'lossless-json';

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
type AnyBody = any;

interface RestInit {
  method?: string;
  token?: string | null;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request to the REST door. Integers beyond the range of a number arrive as bigint. */
export async function rest(url: string, path: string, init: RestInit = {}): Promise<Answer<AnyBody>> {
  const { method = 'GET', token = null, body, headers = {} } = init;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: asBody(body) }),
  });
  return answer(response);
}

interface GraphQLInit {
  token?: string | null;
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** Sends an operation to the GraphQL door. */
export async function graphql(url: string, query: string, init: GraphQLInit = {}): Promise<Answer<AnyBody>> {
  const { token = null, variables, headers = {} } = init;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  return answer(response);
}

async function answer(response: Response): Promise<Answer<AnyBody>> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  const body = isJson ? parse(text, null, exact) : undefined;
  return { status: response.status, headers: response.headers, body, text };
}

function asBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function exact(text: string): number | bigint {
  const number = Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(text) : number;
}
