import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { RequestFlood } from '../../support/attacks/request-flood.js';
import { anyDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const CONNECTIONS = 32;
const READS = 40;
const BROWSER = { accept: 'text/html,*/*;q=0.8', 'accept-encoding': 'gzip, br' };

const ONE_ADDRESS = () => '192.0.2.1';
/** No address reaches its limit, so the pages themselves must be cheap. */
const MANY_ADDRESSES = (index: number) => `198.51.${(index >> 8) & 255}.${index & 255}`;

describe.each([anyDatabase()])('on %s', (kind) => {
  let attacked: AttackedGateway;
  beforeAll(async () => {
    // The test chooses the address of each request.
    attacked = await startAttackedGateway({ kind, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  });
  afterAll(() => attacked.stop());

  /** Floods the paths; returns the processor time per answer, the neighbour's p99, and the statuses. */
  async function measure(paths: readonly string[], addressAt: (index: number) => string) {
    const { gateway, neighbour, processorMs } = attacked;
    const flood = new RequestFlood(gateway.url, {
      betweenMs: 5,
      connections: CONNECTIONS,
      ask: (index) => ({
        path: paths[index % paths.length] ?? '/',
        headers: { ...BROWSER, 'x-forwarded-for': addressAt(index) },
      }),
    });
    await eventually('the flood', () => flood.answered > 10 * CONNECTIONS);
    const [answered, usedMs] = [flood.answered, await processorMs()];
    neighbour.startOver();
    await eventually(`${READS} reads`, () => neighbour.readCount >= READS, 20_000);
    const costMs = ((await processorMs()) - usedMs) / (flood.answered - answered);
    const measured = { costMs, p99Ms: neighbour.p99Ms() };
    await flood.stop();
    expect(neighbour.failures()).toEqual([]);
    return { ...measured, statuses: [...flood.answers.keys()] };
  }

  test.each([
    { who: 'one address', addressAt: ONE_ADDRESS, status: 429 },
    { who: 'many addresses', addressAt: MANY_ADDRESSES, status: 200 },
  ])(
    `Attack-6: ${CONNECTIONS} connections of $who to public pages cost little more than to health checks`,
    async ({ addressAt, status }) => {
      await measure(['/healthz'], addressAt);
      const health = await measure(['/healthz'], addressAt);
      const pages = ['/v1/docs', '/v1/openapi.json', '/', '/graphiql', '/graphql'];
      const attack = await measure(pages, addressAt);
      expect(attack.statuses).toContain(status);
      // Rendering each answer cost seventeen times as much.
      expect(attack.costMs).toBeLessThan(8 * health.costMs);
      expect(attack.p99Ms).toBeLessThan(250 + 4 * health.p99Ms);
      expect(attacked.gateway.faults()).toEqual([]);
    },
  );
});
