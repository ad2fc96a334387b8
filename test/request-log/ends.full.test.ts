import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { LoggedRequest } from '../../src/tenants/request-log/logged-request.entity.js';
import { createTestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { createTenant, startGateway } from '../support/gateway-process.js';
import { graphql, rest } from '../support/http/client.js';

test('Requests-10: a killed process loses the requests of its last seconds, and one that is told to end loses none', async () => {
  const database = await createTestDatabase('sqlite');
  const env = { DATABASE_URL: database.url, SHUTDOWN_SECONDS: '4' };
  const operations = async (url: string, token: string) => {
    const { body } = await graphql(url, '{ project { requests { nodes { operation } } } }', { token });
    return body.data.project.requests.nodes.map(
      ({ operation }: { operation: string }) => operation,
    ) as string[];
  };
  const count = async (url: string, token: string, name: string) =>
    (await operations(url, token)).filter((operation) => operation === name).length;
  try {
    const first = await startGateway({ env });
    const token = await createTenant(database.url);
    for (let sent = 0; sent < 5; sent += 1) await rest(first.url, '/v1/toys', { token });
    const areStored = async () => (await count(first.url, token, 'listToys')) === 5;
    // Each look is an operation, of which a key has 120 in a minute: every 20 ms they were spent after some seconds.
    await eventually('stored', areStored, 30_000, 600);
    await first.kill('SIGKILL');

    const second = await startGateway({ env });
    expect(await count(second.url, token, 'listToys')).toBe(5);
    await rest(second.url, '/v1/toys/1', { token });
    await second.kill('SIGTERM');
    await second.ended;
    const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    expect(await db.repository(LoggedRequest).countBy({ operation: 'getToy' })).toBe(1);
    await db.close();
  } finally {
    await database.remove();
  }
});
