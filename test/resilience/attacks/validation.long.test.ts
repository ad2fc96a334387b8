import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { sendDocuments } from '../../support/attacks/document-flood.js';
import { eventually } from '../../support/eventually.js';
import { slowness } from '../../support/own-time.js';

const CONNECTIONS = 16;
const READS = 40;
const MOST_MS = 50;
const MOST_P99_MS = 250;
const repeat = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');
const conflicts = (count: number) =>
  `{ toys { nodes { ${repeat(count, (at) => `a: ${at % 2 ? 'id' : 'name'}`)} } } }`;

interface Refused {
  path?: string;
  body: object;
}

/** Bodies that are refused, by the part that made each slow. */
const REFUSED: Record<string, Refused> = {
  '660 conflicting aliases': { body: { query: conflicts(660) } },
  'the largest number of conflicts that is validated': { body: { query: conflicts(98) } },
  '220 fragments in one place': {
    body: {
      query: `{ toys { nodes { ${repeat(220, (at) => `...f${at}`)} } } } ${repeat(220, (at) => `fragment f${at} on Toy { id }`)}`,
    },
  },
  '100 operations without a name': { body: { query: repeat(100, () => '{ toys { nodes { id } } }') } },
  '660 repeated input fields': {
    body: {
      query: `mutation { createToy(input: { ${repeat(660, () => 'name: "a"')} }) { id } }`,
    },
  },
  '100 KB of tokens': { body: { query: `{ toys { nodes { ${repeat(19_000, () => 'name')} } } }` } },
  'a variable of 100 KB that is not an enum value': {
    body: {
      query: 'query ($s: ToyStatus) { toys(status: $s) { nodes { id } } }',
      variables: { s: 'x'.repeat(100_000) },
    },
  },
  'an input with 7,000 unknown fields': {
    body: {
      query: 'mutation ($toy: NewToy!) { createToy(input: $toy) { id } }',
      variables: { toy: Object.fromEntries(Array.from({ length: 7_000 }, (_, at) => [`k${at}`, 1])) },
    },
  },
  '48,000 fields of the schema': {
    body: {
      query: `{ toys { nodes { id } } __schema { types { ${repeat(29, (at) => `f${at}: fields { name description type { kind name } }`)} } } }`,
    },
  },
  '33,000 values instead of one': {
    body: {
      query: 'query ($n: Int) { toys(first: $n) { nodes { id } } }',
      variables: { n: Array.from({ length: 33_000 }, () => 1) },
    },
  },
  '9,000 unknown fields over REST': {
    path: '/v1/toys',
    body: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`f${at}`, 1])),
  },
};

describe('while 16 connections send bodies that are refused', () => {
  let attacked: AttackedGateway;
  let quietP99Ms: number;
  beforeAll(async () => {
    attacked = await startAttackedGateway();
    quietP99Ms = await p99Ms();
  });
  afterAll(() => attacked.stop());

  async function p99Ms(): Promise<number> {
    const { neighbour } = attacked;
    neighbour.startOver();
    await eventually(`${READS} reads`, () => neighbour.readCount >= READS, 20_000);
    return neighbour.p99Ms();
  }

  test.each(Object.entries(REFUSED))(
    `Attack-5: %s cost at most ${MOST_MS} ms of the processor, and a neighbour waits at most ${MOST_P99_MS} ms`,
    async (_, { path = '/graphql', body }) => {
      const { gateway, attackerToken: token, neighbour, processorMs } = attacked;
      let isOver = false;
      let sent = 0;
      const usedMs = await processorMs();
      const attack = sendDocuments({
        url: gateway.url,
        token,
        path,
        connections: CONNECTIONS,
        isOver: () => isOver,
        bodyAt: () => {
          sent += 1;
          return body;
        },
      });
      const slow = await slowness();
      const attackedP99Ms = await p99Ms();
      isOver = true;
      const answers = await attack;
      const costMs = ((await processorMs()) - usedMs) / sent;
      expect([...answers.keys()]).toEqual([400]);
      expect(costMs).toBeLessThan(MOST_MS);
      expect(attackedP99Ms).toBeLessThan(MOST_P99_MS * slow + 10 * quietP99Ms);
      expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
    },
    30_000,
  );
});
