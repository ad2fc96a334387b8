import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../support/attacks/raw-client.js';
import { eventually } from '../../support/eventually.js';

const CONNECTIONS = 400;
const BODIES = 1_200;
const MAX_GROWTH_MB = 150;
const BYTES = 100_000;

const filled = (begin: string, item: string, end: string) =>
  `${begin}${Array.from({ length: Math.floor((BYTES - 100) / (Buffer.byteLength(item) + 1)) }, () => item).join()}${end}`;
const members = (count: number, value: string) =>
  Array.from({ length: count }, (_, at) => `"k${at}":{"n${at}":"${value}"}`).join();
const operation = '{"query":"{ apiKey { id } }","variables":';

/** Bodies of nearly 100 KB: the first four are refused, the others are executed. */
const BODIES_OF: Record<string, string> = {
  'lists of 60 levels': filled(`${operation}[`, `${'['.repeat(60)}${']'.repeat(60)}`, ']}'),
  'lists of one number': filled(`${operation}{"x":[`, '[0]', ']}}'),
  'lists of 49,000 levels': `${operation}${'['.repeat(49_000)}${']'.repeat(49_000)}}`,
  '24,000 operations': filled('[', '{}', ']'),
  'objects with 2,400 different names, not Latin-1': `${operation}{${members(2_400, 'ЖЖЖЖЖЖ')}}}`,
  'a text of escapes': `${operation}{"x":"${'\\u0416'.repeat(16_000)}"}}`,
  'a number of 99,000 digits': `${operation}{"x":${'7'.repeat(99_000)}}}`,
};

/** A request with a body; without a length it is sent in chunks. */
function request(path: string, token: string, body: string, isChunked = false): Buffer {
  const bytes = Buffer.from(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  if (!isChunked)
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
  const chunk = `${head}Transfer-Encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n`;
  return Buffer.concat([Buffer.from(chunk), bytes, Buffer.from('\r\n0\r\n\r\n')]);
}

describe('large bodies on many connections', () => {
  let attacked: AttackedGateway;
  let clients: RawClient[];
  beforeEach(async () => {
    attacked = await startAttackedGateway();
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) client.leave();
    await attacked.stop();
  });

  /** Sends the bytes on each connection, and again after each answer, until there were enough answers. */
  async function flood(connections: number, answers: number, bytes: Buffer): Promise<Map<string, number>> {
    const statuses = new Map<string, number>();
    let sent = 0;
    let answered = 0;
    const send = (client: RawClient) => {
      sent += 1;
      if (sent <= answers) client.socket.write(bytes);
    };
    for (let opened = 0; opened < connections; opened += 1) {
      const client = await RawClient.open({ port: attacked.gateway.port });
      clients.push(client);
      client.socket.on('data', () => {
        const [, status] = /^HTTP\/1\.1 (\d+)[\s\S]*\}/.exec(client.received) ?? [];
        if (!status) return;
        client.received = '';
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        answered += 1;
        send(client);
      });
      send(client);
    }
    await eventually(`${answers} answers`, () => answered >= answers, 90_000);
    return statuses;
  }

  test.each(Object.entries(BODIES_OF))(
    `Attack-33: ${CONNECTIONS} connections with bodies of %s take at most ${MAX_GROWTH_MB} MB`,
    async (_, body) => {
      const { gateway, attackerToken, neighbour, memoryMb } = attacked;
      await eventually('a neighbour', () => neighbour.readCount > 20);
      const beforeMb = await memoryMb();
      let mostMb = 0;
      const watching = setInterval(async () => {
        mostMb = Math.max(mostMb, await memoryMb());
      }, 20);
      const statuses = await flood(CONNECTIONS, BODIES, request('/graphql', attackerToken, body));
      clearInterval(watching);
      expect([...statuses.keys()].filter((status) => !/^(200|400|429|503)$/.test(status))).toEqual([]);
      expect(mostMb - beforeMb).toBeLessThan(MAX_GROWTH_MB);
      expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
    },
    120_000,
  );

  test('Attack-34: 800 REST bodies of 100 KB keep no memory while their statements wait for a locked database', async () => {
    const { gateway, attackerToken, databaseUrl, memoryMb } = attacked;
    const toy = `{"name":"Rex","categoryId":1,${members(2_400, 'ЖЖЖЖЖЖ')}}`;
    await flood(4, 20, request('/v1/toys', attackerToken, toy));
    const other = new libsql(databaseUrl.replace('sqlite:', ''));
    other.exec('BEGIN IMMEDIATE');
    const beforeMb = await memoryMb();
    const statuses = await flood(800, 800, request('/v1/toys', attackerToken, toy));
    expect((await memoryMb()) - beforeMb).toBeLessThan(60);
    expect([...statuses.keys()]).toEqual(['503']);
    other.exec('ROLLBACK');
    other.close();
    expect(gateway.faults()).toEqual([]);
  }, 60_000);

  test('Attack-35: bodies of one project that never end leave room for its small ones, and for those of others', async () => {
    const { gateway, attackerToken, neighbour } = attacked;
    const whole = request('/graphql', attackerToken, `${operation}{"x":"${'a'.repeat(90_000)}"}}`, true);
    for (let opened = 0; opened < 300; opened += 1) {
      const client = await RawClient.open({ port: gateway.port });
      clients.push(client);
      client.socket.write(whole.subarray(0, 80_000));
    }
    const refused = () =>
      clients.filter(({ received }) => /^HTTP\/1\.1 503[\s\S]*retry-after: 1/.test(received));
    await eventually('the surplus is refused', () => refused().length > 100);
    expect(refused().length).toBeLessThan(250);
    const last = await RawClient.open({ port: gateway.port });
    clients.push(last);
    last.socket.write(request('/graphql', attackerToken, '{"query":"{ apiKey { id } }"}'));
    await eventually('an answer to a small body', () => last.received.includes('"data"'));
    expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
  });
});
