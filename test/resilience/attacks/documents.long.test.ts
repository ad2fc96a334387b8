import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { sendDocuments } from '../../support/attacks/document-flood.js';

const MOST_MB = 150;
/** Not Latin-1: if a text has one such character, V8 stores two bytes for each of its characters. */
const FILLER = 'Ж'.repeat(50_000);
const repeat = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');
const list = (at: number) =>
  `{ list${at}: toys(first: ${1 + (at % 90)}) { nodes { id name categoryId status createdAt own${at}: id } pageInfo { hasNextPage endCursor } } }`;

/** Each mix: its distinct requests, and how often each of them is sent in a row. */
const MIXES: Record<string, { requests: number; times: number; bodyAt: (at: number) => object }> = {
  'with comments of 100 KB': {
    requests: 1_400,
    times: 1,
    bodyAt: (at) => ({ query: `#${at}${FILLER}\n{ __typename }` }),
  },
  'of 30,000 empty comments': {
    requests: 150,
    times: 1,
    bodyAt: (at) => ({ query: `#${at}\n${'#\n'.repeat(30_000)}{ __typename }` }),
  },
  'that list toys, five times each': {
    requests: 3_000,
    times: 5,
    bodyAt: (at) => ({ query: list(at) }),
  },
  'with large variables, three times each': {
    requests: 450,
    times: 3,
    bodyAt: (at) => ({
      query: 'query ($n: Int) { toys(first: $n) { nodes { id } } }',
      variables: { n: 1, unused: `${at}${FILLER}` },
    }),
  },
  'that are registered as persisted queries, invalid, or mutations': {
    requests: 600,
    times: 1,
    bodyAt: (at) => {
      const query = `#${at}${FILLER}\n{ __typename }`;
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      if (at % 3 === 0) return { query, extensions: { persistedQuery: { version: 1, sha256Hash } } };
      if (at % 3 === 1) return { query: `#${at}${FILLER}\n{ nope }` };
      return {
        query: `mutation { ${repeat(5, (toy) => `a${toy}: createToy(input: { name: "${at}" }) { id }`)} }`,
      };
    },
  },
};

describe('a gateway with a heap of 512 MB', () => {
  let attacked: AttackedGateway;
  beforeEach(async () => {
    attacked = await startAttackedGateway();
  });
  afterEach(() => attacked.stop());

  test.each(Object.entries(MIXES))(
    `Attack-1: distinct documents %s take at most ${MOST_MB} MB`,
    async (_, { requests, times, bodyAt }) => {
      const { gateway, attackerToken: token, neighbour, memoryMb } = attacked;
      const attack = { url: gateway.url, token, path: '/graphql', connections: 8 };
      const send = (count: number, body: (at: number) => unknown) =>
        sendDocuments({ ...attack, requests: count, bodyAt: body });
      await send(200, () => ({ query: '{ toys { nodes { id } } }' }));
      const beforeMb = await memoryMb();
      const answers = await send(requests, (index) => bodyAt(Math.floor(index / times)));
      expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBe(requests);
      expect((await memoryMb()) - beforeMb).toBeLessThan(MOST_MB);
      expect([neighbour.failures(), gateway.faults()]).toEqual([[], []]);
    },
    60_000,
  );
});
