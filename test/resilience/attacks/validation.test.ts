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
  `{ pets { nodes { ${repeat(count, (at) => `a: ${at % 2 ? 'id' : 'name'}`)} } } }`;

/** Documents that are refused, by what made each costly. */
const REFUSED: Record<string, object> = {
  '660 conflicting aliases': { query: conflicts(660) },
  'as many conflicts as may be validated': { query: conflicts(98) },
  '220 fragments in one place': {
    query: `{ pets { nodes { ${repeat(220, (at) => `...f${at}`)} } } } ${repeat(220, (at) => `fragment f${at} on Pet { id }`)}`,
  },
  '100 operations without a name': { query: repeat(100, () => '{ pets { nodes { id } } }') },
  '660 repeated input fields': {
    query: `mutation { createPet(input: { ${repeat(660, () => 'name: "a"')} }) { id } }`,
  },
  '100 KB of tokens': { query: `{ pets { nodes { ${repeat(19_000, () => 'name')} } } }` },
  'a variable of 100 KB that is no enum value': {
    query: 'query ($s: PetStatus) { pets(status: $s) { nodes { id } } }',
    variables: { s: 'x'.repeat(100_000) },
  },
  '33,000 values where one belongs': {
    query: 'query ($n: Int) { pets(first: $n) { nodes { id } } }',
    variables: { n: Array.from({ length: 33_000 }, () => 1) },
  },
};

describe('while 16 connections send documents that are refused', () => {
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
    async (_, body) => {
      const { gateway, attackerToken: token, neighbour, processorMs } = attacked;
      let isOver = false;
      let sent = 0;
      const usedMs = await processorMs();
      const attack = sendDocuments({
        url: gateway.url,
        token,
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
