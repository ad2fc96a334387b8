import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AttackedGateway, startAttackedGateway } from '../../../support/attacks/attacked-gateway.js';
import { RawClient } from '../../../support/attacks/raw-client.js';
import { anyDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';

const ROUNDS = 20;
const CLIENTS = 100;
const MOST_MORE_MB = 60;

describe.each([anyDatabase()])('on %s', (kind) => {
  let attacked: AttackedGateway;
  beforeAll(async () => {
    attacked = await startAttackedGateway({ kind, env: { LOG_LEVEL: 'info' } });
  });
  afterAll(() => attacked.stop());

  test(`Attack-28: ${ROUNDS * CLIENTS} clients that disconnect within their body leave no memory and no descriptor, and a log line each`, async () => {
    const { gateway, neighbour, attackerToken } = attacked;
    const head = `POST /v1/toys HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${attackerToken}\r\n`;
    const part = `${head}Content-Type: application/json\r\nContent-Length: 50000\r\n\r\n{"name":"${'x'.repeat(20_000)}`;
    const disconnect = async () => {
      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, () => RawClient.open({ port: gateway.port })),
      );
      for (const client of clients) client.send(part);
      await pause(20);
      for (const client of clients) client.leave();
    };
    await disconnect();
    const isRecorded = (count: number) => () => linesOf(gateway.output()).length >= count;
    await eventually('the first round in the log', isRecorded(CLIENTS / 2));
    const [memoryMb, descriptors] = [await attacked.memoryMb(), await attacked.descriptors()];
    neighbour.startOver();
    for (let round = 0; round < ROUNDS; round += 1) await disconnect();
    await eventually('a quiet gateway', async () => (await attacked.descriptors()) <= descriptors + 10);
    await pause(500);
    expect(linesOf(gateway.output()).length).toBeLessThanOrEqual((ROUNDS + 1) * CLIENTS);
    expect((await attacked.memoryMb()) - memoryMb).toBeLessThan(MOST_MORE_MB);
    expect(neighbour.failures()).toEqual([]);
    expect(gateway.faults()).toEqual([]);
  });
});

/** The log lines of requests that ended without an answer. */
function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line.includes('"status":499'));
}
