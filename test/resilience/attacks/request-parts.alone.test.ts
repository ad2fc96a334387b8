import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../support/attacks/raw-client.js';
import { RequestFlood } from '../../support/attacks/request-flood.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/servers/daemon.js';

const CONNECTIONS = 40;
const HEAD = 'Host: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNK_OF_ONE = '1\r\n \r\n';
const MAX_GROWTH_MB = 150;

describe('requests whose parts are many and small', () => {
  let attacked: AttackedGateway & { metricsPort: number };
  beforeEach(async () => {
    const metricsPort = await freePort();
    const gateway = await startAttackedGateway({ env: { METRICS_PORT: String(metricsPort) } });
    attacked = Object.assign(gateway, { metricsPort });
  });
  afterEach(() => attacked.stop());

  test.each(['/nothing', '/v1/toys', '/graphql'])(
    `Attack-16: ${CONNECTIONS} bodies of 100,000 chunks for %s, without a key, keep no memory`,
    async (path) => {
      const { gateway, memoryMb } = attacked;
      const before = await memoryMb();
      const body = CHUNK_OF_ONE.repeat(100_000);
      const clients = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => RawClient.open({ port: gateway.port })),
      );
      for (const client of clients) client.send(`POST ${path} HTTP/1.1\r\n${HEAD}${body}`);
      await eventually('the end of all', () => clients.every(({ lastedMs }) => lastedMs !== null), 60_000);
      expect((await memoryMb()) - before).toBeLessThan(MAX_GROWTH_MB);
      expect(gateway.faults()).toEqual([]);
    },
  );

  test('Attack-17: a body of few small chunks is accepted, a body of many is refused with 400', async () => {
    const { gateway, attackerToken } = attacked;
    const answerTo = async (chunks: string) => {
      const client = await RawClient.open({ port: gateway.port });
      client.send(`POST /v1/toys HTTP/1.1\r\nAuthorization: Bearer ${attackerToken}\r\n${HEAD}${chunks}`);
      await eventually('an answer', () => client.received.includes('\r\n\r\n'));
      client.leave();
      return client.received;
    };
    const toy = [...'{"name":"Rex","categoryId":1}'].map((one) => `1\r\n${one}\r\n`).join('');
    expect(await answerTo(`${CHUNK_OF_ONE.repeat(400)}${toy}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 201 /);
    const refused = await answerTo(`${CHUNK_OF_ONE.repeat(600)}${toy}0\r\n\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 400 [\s\S]*too many small pieces/);
  });

  test('Attack-18: thousands of headers cost little more than one header of the same size', async () => {
    const { gateway, processorMs } = attacked;
    const names = Array.from({ length: 2_400 }, (_, index) => `x${index.toString(36)}:\r\n`).join('');
    const costOf = async (headers: string) => {
      const usedMs = await processorMs();
      const clients = await Promise.all(
        Array.from({ length: 100 }, () => RawClient.open({ port: gateway.port })),
      );
      for (const client of clients) {
        client.send(`GET /v1/toys HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`.repeat(8));
      }
      await eventually('the end of all', () => clients.every(({ lastedMs }) => lastedMs !== null), 60_000);
      return (await processorMs()) - usedMs;
    };
    const refused = 'Host: 127.0.0.1\r\n';
    const few = await costOf(`${refused}x: ${'a'.repeat(names.length)}\r\n`);
    const many = await costOf(refused + names);
    // Without the limit it was five times as much; the parser itself needs some time for each header.
    expect(many).toBeLessThan(4 * few);
  });

  test('Attack-19: an Accept of thousands of entries costs little more than no Accept', async () => {
    const { gateway, processorMs } = attacked;
    const costOf = async (headers: Record<string, string>) => {
      const flood = new RequestFlood(gateway.url, {
        connections: 8,
        betweenMs: 5,
        ask: () => ({ path: '/graphql', headers }),
      });
      await eventually('the flood', () => flood.answered > 100, 30_000);
      const [answered, usedMs] = [flood.answered, await processorMs()];
      await eventually('the measurement', () => flood.answered > answered + 400, 60_000);
      const costMs = ((await processorMs()) - usedMs) / (flood.answered - answered);
      await flood.stop();
      return costMs;
    };
    const plain = await costOf({});
    const long = 'a/b,'.repeat(3_800);
    // Without the limit it was eighty times as much.
    expect(await costOf({ accept: long, 'accept-encoding': long })).toBeLessThan(8 * plain + 0.5);
  });

  test.each([['HTTP'], ['the metrics']])(
    'Attack-25: a CONNECT that is refused and then reset, at the port of %s, does not end the process',
    async (name) => {
      const { gateway, metricsPort } = attacked;
      const port = name === 'HTTP' ? gateway.port : metricsPort;
      for (let turn = 0; turn < 10; turn += 1) {
        const client = await RawClient.open({ port });
        client.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
        await eventually('refused', () => client.received.includes('CONNECT is not supported here.'));
        client.socket.resetAndDestroy();
      }
      await eventually('the neighbour reads', () => attacked.neighbour.readCount > 20);
      expect(attacked.neighbour.failures()).toEqual([]);
      expect(gateway.faults()).toEqual([]);
    },
  );

  test('Attack-26: a subscription of a client that accepts no stream is refused with 406, and the log has no fault', async () => {
    const { gateway, attackerToken } = attacked;
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${attackerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'subscription { __typename }' }),
    });
    expect(response.status).toBe(406);
    expect(await response.text()).toContain('text/event-stream');
    expect(gateway.faults()).toEqual([]);
  });
});
