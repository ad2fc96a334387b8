import { eventually } from '../eventually.js';
import { graphql } from '../http/client.js';
import { RawClient } from './raw-client.js';

const MOST_ALIASES = 30;
const TOYS_OF_MUTATION = 100;
/** Each character has three bytes. */
const LONGEST_NAME = '\u20ac'.repeat(255);

export const SMALL_OPERATION = 'subscription { toyChanges { cursor } }';

/** A subscription with as much text for each change as is allowed: 23 KB. No other number has the same. */
export function largeOperation(number: number, argument = ''): string {
  const names = Array.from({ length: MOST_ALIASES }, (_, at) => `a${number}_${at}: name`);
  return `subscription S { toyChanges${argument} { cursor toy { ${names.join(' ')} } } }`;
}

interface StreamRequest {
  query?: string;
  variables?: unknown;
  version?: '1.0' | '1.1';
  headers?: Record<string, string>;
}

/** The bytes of a request for a stream. */
export function streamRequest(
  token: string,
  { query = SMALL_OPERATION, variables, version = '1.1', headers = {} }: StreamRequest = {},
): string {
  const body = Buffer.from(JSON.stringify({ query, variables }));
  const lines = Object.entries({
    host: 'localhost',
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /graphql HTTP/${version}\r\n${lines.join('')}\r\n${body.toString('latin1')}`;
}

/** Opens a stream, and waits for its first bytes or for the refusal. */
export async function openRawStream(port: number, bytes: string): Promise<RawClient> {
  const client = (await RawClient.open({ port })).send(bytes);
  await eventually('an answer', () => isLive(client) || client.lastedMs !== null || statusOf(client) >= 400);
  return client;
}

export function isLive({ received }: RawClient): boolean {
  return received.includes('retry:');
}

export function statusOf({ received }: RawClient): number {
  return Number(/^HTTP\/1\.1 (?!100)(\d+) /m.exec(received)?.[1] ?? 0);
}

/** Creates toys with the longest names. */
export async function createLargeToys(url: string, token: string, mutations: number): Promise<void> {
  const inputs = Array.from({ length: TOYS_OF_MUTATION }, () => ({ name: LONGEST_NAME, categoryId: 1 }));
  const query = 'mutation ($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id } }';
  for (let sent = 0; sent < mutations; sent += 1) {
    const { body } = await graphql(url, query, { token, variables: { inputs } });
    if (body.errors) throw new Error(JSON.stringify(body.errors));
  }
}
