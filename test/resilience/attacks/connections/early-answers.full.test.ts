import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { eventually } from '../../../support/eventually.js';

const MOST_MORE_MB = 100;
const KB = 1_000;
const MB = 1_000_000;

let attacked: AttackedGateway;
beforeAll(async () => {
  attacked = await startAttackedGateway();
});
afterAll(() => attacked.stop());

interface Upload {
  path: string;
  token: string;
  type: string;
  bytes: number;
}

type Client = (upload: Upload) => Promise<number | string>;

const headersOf = ({ token, type }: Upload) => ({ authorization: `Bearer ${token}`, 'content-type': type });

const CLIENTS: [name: string, client: Client][] = [
  [
    'fetch',
    async (upload) => {
      const body = Buffer.alloc(upload.bytes, ' ');
      const sent = { method: 'POST', headers: headersOf(upload), body };
      const answer = await fetch(attacked.gateway.url + upload.path, sent);
      await answer.text();
      return answer.status;
    },
  ],
  [
    'node:http',
    (upload) =>
      new Promise((resolve, reject) => {
        const headers = { ...headersOf(upload), 'content-length': upload.bytes };
        const url = attacked.gateway.url + upload.path;
        const sent = request(url, { method: 'POST', agent: false, headers }, (answer) => {
          answer.on('end', () => resolve(answer.statusCode ?? 0)).resume();
        });
        sent.on('error', reject).end(Buffer.alloc(upload.bytes, ' '));
      }),
  ],
  [
    'a client that reads only after it has sent the whole body',
    async (upload) => {
      const client = await RawClient.open({ port: attacked.gateway.port, reads: false });
      const { authorization, 'content-type': type } = headersOf(upload);
      client.send(
        `POST ${upload.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n` +
          `Content-Type: ${type}\r\nContent-Length: ${upload.bytes}\r\n\r\n`,
      );
      await new Promise((resolve) => client.socket.write(Buffer.alloc(upload.bytes, ' '), resolve));
      client.socket.on('data', (text: string) => {
        client.received += text;
      });
      client.socket.resume();
      await eventually('answered', () => client.received.includes('\r\n\r\n') || client.lastedMs !== null);
      client.leave();
      return Number(/^HTTP\/1\.1 (\d+)/.exec(client.received)?.[1]);
    },
  ],
];

describe.each(CLIENTS)('by %s', (_, client) => {
  test.each([
    [413, '/v1/toys', 'valid', 'application/json', 150 * KB, 20],
    [413, '/v1/toys', 'valid', 'application/json', 5 * MB, 20],
    [413, '/v1/toys', 'valid', 'application/json', 50 * MB, 2],
    [413, '/graphql', 'valid', 'application/json', 150 * KB, 20],
    [413, '/graphql', 'valid', 'application/json', 5 * MB, 20],
    [401, '/v1/toys', 'none', 'application/json', 5 * MB, 5],
    [415, '/v1/toys', 'valid', 'text/csv', 5 * MB, 5],
  ])(
    'Attack-9: the client reads %d at %s although its body is not read (RFC 9112 §9.6): %#',
    async (status, path, key, type, bytes, times) => {
      const before = await attacked.memoryMb();
      const token = key === 'valid' ? attacked.attackerToken : 'none';
      const statuses = new Set<number | string>();
      for (let turn = 0; turn < times; turn += 1) {
        statuses.add(
          await client({ path, token, type, bytes }).catch((error) => String(error.cause ?? error)),
        );
      }
      expect([...statuses]).toEqual([status]);
      expect((await attacked.memoryMb()) - before).toBeLessThan(MOST_MORE_MB);
    },
  );
});

test('Attack-10: a body that trickles on after its answer is not read for long (RFC 9112 §9.6)', async () => {
  const client = new RawClient({ port: attacked.gateway.port });
  client.socket.allowHalfOpen = true;
  client.send(
    `POST /v1/toys HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${attacked.attackerToken}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${50 * MB}\r\n\r\n`,
  );
  const timer = setInterval(() => client.send(' '), 200);
  await eventually('closed', () => client.lastedMs !== null, 15_000).finally(() => clearInterval(timer));
  expect(client.received).toMatch(/^HTTP\/1\.1 413 /);
});
