import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { REPLAYED } from '../../src/request/http/headers.js';
import { databaseKinds } from '../support/databases.js';
import { killed, onStatement } from '../support/durability/faults.js';
import { FaultyGateway, type Tenant } from '../support/durability/faulty-gateway.js';
import type { Fault } from '../support/durability/sweep.js';
import { eventually } from '../support/eventually.js';
import { rest } from '../support/http/client.js';

const MAIN = resolve('dist/test/support/gateway/deliveries-main.js');
const SCOPES = 'deliveries:read,deliveries:write,deliveries:retry';
/** Longer than the key of a request whose outcome is unknown stays locked. */
const LOCK_MS = 11_000;
const [KILLS, LOST_COMMITS] = [10, 10];
/** They share a transaction. */
const TOGETHER = 5;

describe.each(databaseKinds())('on %s', (kind) => {
  let gateway: FaultyGateway;
  let tenant: Tenant;
  beforeAll(async () => {
    gateway = await FaultyGateway.start(kind, MAIN);
    tenant = await gateway.tenant({ isLogged: true });
    await gateway.query('UPDATE api_keys SET scopes = ?', [SCOPES]);
  });
  afterAll(() => gateway?.stop());
  const post = (path: string, init = {}) =>
    rest(gateway.url, `/v1/deliveries${path}`, { method: 'POST', token: tenant.token, ...init });
  const logged = async (id: string) => {
    const sql = 'SELECT kind FROM changes WHERE project_id = ? AND record LIKE ? ORDER BY number';
    return (await gateway.query(sql, [tenant.projectId, `{"id":"${id}",%`])).map((row) => row.kind);
  };

  /** Each round sends some actions at once. The fault hits an action of each round. Each action is sent again until its outcome is known. */
  async function underFault(fault: Fault, rounds: number, begin: string): Promise<void> {
    let place = 0;
    for (let met = 0, round = 0; met < rounds; round += 1) {
      const codes = Array.from({ length: TOGETHER }, (_, at) => `${begin}${round}-${at}`);
      const ids = await Promise.all(codes.map(created));
      const act = (at: number) =>
        post(`/${ids[at]}/retry`, { headers: { 'idempotency-key': codes[at] } }).catch(() => null);
      place += 1;
      await fault.arm(gateway, place);
      const first = await Promise.all(codes.map((_, at) => act(at)));
      const outcomes = first.map((answer) => (answer?.status === 200 ? 'done' : 'unknown'));
      const isMet = await fault.lift(
        gateway,
        outcomes.map((kind) => ({ kind, reason: '' })),
      );
      if (isMet) met += 1;
      else place = 0;
      if (outcomes.includes('unknown')) await gateway.passTime(LOCK_MS);
      for (const [at, code] of codes.entries()) {
        const answered = async () => {
          const answer = await act(at);
          return answer?.status === 200 && answer;
        };
        const answer = first[at]?.status === 200 ? first[at] : await eventually('its outcome', answered);
        const repeated = await act(at);
        expect([code, repeated?.text, repeated?.headers.get(REPLAYED)]).toEqual([code, answer.text, 'true']);
        const sql = 'SELECT attempts FROM deliveries WHERE code = ?';
        const attempts = (await gateway.query(sql, [code])).map((row) => Number(row.attempts));
        expect([code, attempts, repeated?.body.attempts]).toEqual([code, [1], 1]);
        expect([code, await logged(String(ids[at]))]).toEqual([code, ['created', 'updated']]);
      }
    }
    expect(gateway.logged()).toEqual([]);
  }

  async function created(code: string): Promise<string> {
    const headers = { 'idempotency-key': `${code}-new` };
    return eventually('a delivery', async () => {
      const made = await post('', { body: { code }, headers });
      return made.status === 201 && String(made.body.id);
    });
  }

  test(`Action-12: each of ${KILLS * TOGETHER} actions under ${KILLS} kills is done once, logged once and answered once`, async () => {
    await underFault(killed, KILLS, 'K');
  }, 600_000);

  // SQLite has no COMMIT whose answer can be lost.
  if (kind === 'sqlite') return;
  test(`Action-13: so is each of ${LOST_COMMITS * TOGETHER} actions when an answer to COMMIT is lost`, async () => {
    await underFault(onStatement('lost', true), LOST_COMMITS, 'L');
  });
});
