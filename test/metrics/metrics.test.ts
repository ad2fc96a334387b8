import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp, type TestApp } from '../support/start-app.js';

let app: TestApp;
let port: number;
beforeAll(async () => {
  port = await freePort();
  app = await startApp({ env: { METRICS_PORT: String(port) } });
});
afterAll(() => app.stop());

test('Metrics-1: the metrics have requests by route and status, decisions, and whether limits are shared', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  for (let at = 0; at < 61; at += 1) await rest(app.url, '/v1/toys', { token });
  await graphql(app.url, '{ toys { nodes { id } } }', { token });
  await graphql(app.url, '{ project { slug } }', { token });
  const { status, text } = await rest(`http://127.0.0.1:${port}`, '/metrics');
  expect(status).toBe(200);
  const count = (labels: string) => `http_server_request_duration_seconds_count{${labels}}`;
  expect(text).toContain(`${count('route="/v1/toys",method="GET",status="200"')} 60`);
  expect(text).toContain(`${count('route="/v1/toys",method="GET",status="429"')} 1`);
  expect(text).toContain(`${count('route="/graphql",method="POST",status="429"')} 1`);
  expect(text).toContain('petstore_rate_limit_decisions_total{decision="admitted"} 60');
  expect(text).toContain('petstore_rate_limit_decisions_total{decision="refused"} 2');
  expect(text).toContain('petstore_management_decisions_total{decision="admitted"} 1');
  expect(text).toContain('petstore_rate_limit_degraded 0');
  expect(text).not.toContain(token);
  expect((await rest(app.url, '/metrics')).status).toBe(404);
});

test('Metrics-3: values that a client chooses create no new series', async () => {
  const { token } = await app.tenant();
  const series = async () => {
    const { text } = await rest(`http://127.0.0.1:${port}`, '/metrics');
    return text.split('\n').filter((line) => /^(petstore|http)_/.test(line)).length;
  };
  const attack = async (turn: number) => {
    for (const method of ['GET', 'PUT', 'REPORT']) {
      await rest(app.url, `/${turn}-${method}`, { method, token });
      await rest(app.url, `/v1/${turn}`, { method, token, headers: { [`x-${turn}`]: String(turn) } });
    }
    await graphql(app.url, `query Q${turn} { a${turn}: project { slug } }`, { token });
    await graphql(app.url, `{ f${turn} }`, { token });
  };
  await attack(0);
  const before = await series();
  const { text } = await rest(`http://127.0.0.1:${port}`, '/metrics');
  for (const [method, status] of [
    ['_OTHER', 404],
    ['GET', 404],
  ]) {
    expect(text).toContain(`_count{route="unknown",method="${method}",status="${status}"}`);
  }
  for (let turn = 1; turn <= 20; turn += 1) await attack(turn);
  expect(await series()).toBe(before);
});

test('Metrics-2: metrics listen on the loopback, wherever the API listens, unless METRICS_HOST is set', async () => {
  const answers = async (env: Record<string, string>) => {
    const free = await freePort();
    const other = await startApp({ env: { METRICS_PORT: String(free), ...env } });
    const asked = ['127.0.0.1', '127.0.0.2'].map((host) => fetch(`http://${host}:${free}/metrics`));
    const settled = await Promise.allSettled(asked);
    await other.stop();
    return settled.map(({ status }) => status);
  };
  expect(await answers({ HOST: '0.0.0.0' })).toEqual(['fulfilled', 'rejected']);
  expect(await answers({ METRICS_HOST: '127.0.0.2' })).toEqual(['rejected', 'fulfilled']);
});
