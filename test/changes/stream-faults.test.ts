import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ChangeLogRow, ChangeRow } from '../../src/ground/records/change-log.entity.js';
import { changesClient, openLog } from '../support/changes/changes.js';
import { FOLLOW, openStream } from '../support/changes/stream-client.js';
import { eventually } from '../support/eventually.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

let app: TestApp;
let owner: Tenant;
const lines: string[] = [];
const client = changesClient(
  () => app,
  () => owner,
);
beforeAll(async () => {
  app = await startApp({ onLog: (line) => lines.push(line) });
});
afterAll(() => app?.stop());
beforeEach(async () => {
  owner = await app.tenant();
  await openLog(app, owner);
});

/** Stores a change with this record behind the newest one. */
async function damage(record: string): Promise<void> {
  const { projectId } = owner;
  const [newest] = await app.db
    .repository(ChangeRow)
    .find({ where: { projectId }, order: { number: 'DESC' } });
  if (!newest) throw new Error('The project has no change.');
  const number = newest.number + 1;
  await app.db.repository(ChangeRow).insert({ ...newest, number, previousAtMs: newest.atMs, record });
  await app.db.repository(ChangeLogRow).update({ projectId }, { number });
}

const faultsOf = (requestId: string | null) =>
  lines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId && line.level >= 40);

test('Streams-32: a change that cannot be read ends its streams with INTERNAL, and the log says why', async () => {
  const stream = await openStream(app.url, { token: owner.token, query: FOLLOW });
  await client.create('Rex');
  await stream.received(1);
  await damage('no JSON');
  await client.create('Luna');
  await eventually('the end of the stream', () => stream.hasEnded());
  const { errors } = stream.events.at(-2)?.data ?? {};
  expect(errors[0].extensions.code).toBe('INTERNAL');
  expect(faultsOf(stream.headers.get('x-request-id'))).toEqual([
    expect.objectContaining({ msg: 'request failed', err: expect.objectContaining({ type: 'SyntaxError' }) }),
  ]);
});

test('Streams-33: a field that fails is an error of its event, the stream goes on, and the log says why', async () => {
  const stream = await openStream(app.url, { token: owner.token, query: FOLLOW });
  await client.create('Rex');
  await stream.received(1);
  await damage('{"id":"1"}');
  await client.create('Luna');
  await stream.received(3);
  const codes = stream.events.map(({ data }) => data.errors?.[0].extensions.code);
  expect(codes).toEqual([undefined, 'INTERNAL', undefined]);
  expect(faultsOf(stream.headers.get('x-request-id'))).toEqual([
    expect.objectContaining({ msg: 'request failed' }),
  ]);
  stream.close();
});
