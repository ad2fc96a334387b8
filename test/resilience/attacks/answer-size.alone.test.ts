import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { sendDocuments } from '../../support/attacks/document-flood.js';
import { eventually } from '../../support/eventually.js';
import { graphql, rest } from '../../support/http/client.js';
import { KeepAliveClient } from '../../support/http/keep-alive-client.js';
import { slowness } from '../../support/own-time.js';

const MAX_ANSWER_BYTES = 8_000_000;
const MAX_ADDED_MB = 150;
const REQUESTS = 8;
const CONNECTIONS = 16;
const READS = 40;
const MOST_P99_MS = 250;
const aliases = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

/** Each asks for as much text as its size allows, in names or in values. */
const LONG: Record<string, (alias: string) => string> = {
  'the schema': (alias) =>
    `{ __schema { ${aliases(14, (at) => `t${at}: types { fields { ...f } }`)} } } fragment f on __Field { ${alias}: name }`,
  toys: (alias) =>
    `{ ${aliases(14, (at) => `p${at}: toys(first: 100) { nodes { ...f } }`)} } fragment f on Toy { ${alias}: name }`,
};

describe('while clients ask for as much text as they can', () => {
  let attacked: AttackedGateway;
  beforeAll(async () => {
    attacked = await startAttackedGateway();
    const { gateway, attackerToken: token } = attacked;
    const toy = { name: '\u{1f408}'.repeat(255), categoryId: 1 };
    const add = () => rest(gateway.url, '/v1/toys', { method: 'POST', token, body: toy });
    for (let at = 0; at < 10; at += 1) await Promise.all(Array.from({ length: 10 }, add));
  });
  afterAll(() => attacked.stop());

  test.each(Object.keys(LONG))(
    'Attack-20: aliases of 90 KB in an answer about %s are refused',
    async (about) => {
      const query = LONG[about]?.('a'.repeat(90_000)) ?? '';
      const { status, body } = await graphql(attacked.gateway.url, query, { token: attacked.attackerToken });
      expect([status, body.errors[0].message]).toEqual([
        400,
        expect.stringContaining('100 are allowed. Shorten'),
      ]);
    },
  );

  test(`Attack-27: while ${CONNECTIONS} connections read large pages of toys, a neighbour waits at most ${MOST_P99_MS} ms`, async () => {
    const { gateway, attackerToken: token, neighbour } = attacked;
    const names = aliases(29, (at) => `n${at}: name`);
    const read = async () => {
      neighbour.startOver();
      await eventually(`${READS} reads`, () => neighbour.readCount >= READS, 60_000);
      return neighbour.p99Ms();
    };
    const quietP99Ms = await read();
    let isOver = false;
    let sent = 0;
    const attack = sendDocuments({
      url: gateway.url,
      token,
      path: '/graphql',
      connections: CONNECTIONS,
      isOver: () => isOver,
      bodyAt: () => {
        sent += 1;
        // Never the same one: a cached response costs little.
        return { query: `query q${sent} { toys(first: 100) { nodes { ${names} } } }` };
      },
    });
    const slow = await slowness();
    const attackedP99Ms = await read();
    isOver = true;
    expect([...(await attack).keys()]).toEqual([200]);
    expect(attackedP99Ms).toBeLessThan(MOST_P99_MS * slow + 10 * quietP99Ms);
    expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
  }, 60_000);

  test.each(Object.keys(LONG))(
    `Attack-21: an answer about %s has at most ${MAX_ANSWER_BYTES / 1e6} MB, and memory grows by at most ${MAX_ADDED_MB} MB`,
    async (about) => {
      const { gateway, attackerToken, neighbour, memoryMb } = attacked;
      const query = LONG[about]?.('a'.repeat(100)) ?? '';
      const beforeMb = await memoryMb();
      const clients = Array.from({ length: 4 }, () => new KeepAliveClient(gateway.url, attackerToken));
      for (let at = 0; at < REQUESTS / clients.length; at += 1) {
        const body = { query };
        const answers = await Promise.all(
          clients.map((client) => client.send('/graphql', { method: 'POST', body })),
        );
        for (const { status, text } of answers) {
          expect(status).toBe(200);
          expect(Buffer.byteLength(text)).toBeLessThan(MAX_ANSWER_BYTES);
        }
      }
      for (const client of clients) client.close();
      expect((await memoryMb()) - beforeMb).toBeLessThan(MAX_ADDED_MB);
      expect([neighbour.failures(), gateway.hasEnded()]).toEqual([[], false]);
    },
    20_000,
  );
});
