import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChangeLogRow, ChangeRow } from '../../src/ground/records/change-log.entity.js';
import { changesClient, closeLog, openLog } from '../support/changes/changes.js';
import { FOLLOW, type OpenedStream, openStream } from '../support/changes/stream-client.js';
import { eventually } from '../support/eventually.js';
import { rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const DAY_MS = 86_400_000;

onEachDatabase((app) => {
  let owner: Tenant;
  const streams: OpenedStream[] = [];
  const client = changesClient(app, () => owner);
  beforeEach(async () => {
    owner = await app().tenant();
    await openLog(app(), owner);
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });
  const follow = async (options: Partial<Parameters<typeof openStream>[1]> = {}) => {
    const stream = await openStream(app().url, { token: owner.token, query: FOLLOW, ...options });
    streams.push(stream);
    return stream;
  };
  const shown = (stream: OpenedStream) =>
    stream.events
      .filter(({ data }) => data?.data)
      .map(({ data }) => `${data.data.toyChanges.kind} ${data.data.toyChanges.toy.name}`);
  const codeOf = (stream: OpenedStream) => stream.events.at(-1)?.data?.errors?.[0].extensions.code;
  const ended = (stream: OpenedStream) => eventually('the end of the stream', () => stream.hasEnded());

  test('Streams-1: a stream has each change once its head has arrived, with its cursor as id', async () => {
    const stream = await follow();
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    const id = await client.create('猫 Żółw', 'available');
    await client.update(id, { status: 'sold' });
    await client.delete(id);
    await stream.received(3);
    const { nodes } = await client.changes();
    expect(stream.events).toEqual(
      nodes.map((toyChanges) => ({ event: 'next', id: toyChanges.cursor, data: { data: { toyChanges } } })),
    );
  });

  test.each(['GET', 'POST'] as const)(
    'Streams-2: %s resumes behind `after`, and `Last-Event-ID` wins over it',
    async (method) => {
      await client.create('Rex');
      await client.create('Luna');
      await client.create('Max');
      const [rex, luna] = (await client.changes()).nodes;
      const first = await follow({ method, variables: { after: rex?.cursor } });
      await first.received(2);
      expect(shown(first)).toEqual(['CREATED Luna', 'CREATED Max']);
      const second = await follow({
        method,
        variables: { after: rex?.cursor },
        headers: { 'last-event-id': String(luna?.cursor) },
      });
      await second.received(1);
      await client.create('Coco');
      await second.received(2);
      expect(shown(second)).toEqual(['CREATED Max', 'CREATED Coco']);
    },
  );

  test('Streams-3: `status` also shows what leaves the filter', async () => {
    const stream = await follow({ variables: { status: 'available' } });
    const id = await client.create('Rex', 'available');
    await client.create('Luna', 'sold');
    await client.update(id, { status: 'sold' });
    await client.update(id, { name: 'Max' });
    await client.create('Coco', 'available');
    await stream.received(3);
    expect(shown(stream)).toEqual(['CREATED Rex', 'UPDATED Rex', 'CREATED Coco']);
  });

  test('Streams-4: multipart subscriptions carry the same changes as parts, each at once with the boundary behind it', async () => {
    const stream = await follow({
      headers: { accept: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json' },
    });
    expect(stream.headers.get('content-type')).toContain('multipart/mixed');
    await client.create('Rex');
    await eventually('the part', () => stream.text().includes('"Rex"'));
    const [toyChanges] = (await client.changes()).nodes;
    const [before, ...parts] = stream.text().split('\r\n--graphql');
    expect([before, parts.pop()]).toEqual(['', '']);
    const head = '\r\ncontent-type: application/json\r\n\r\n';
    expect(parts).toEqual([`${head}{}`, `${head}${JSON.stringify({ payload: { data: { toyChanges } } })}`]);
    await app().app.services.apiKeys.revoke(TEST_ACTOR, owner.keyId);
    await ended(stream);
    expect(stream.text()).toMatch(/\{"payload":null,"errors":\[.*"UNAUTHORIZED".*\]\}\r\n--graphql--\r\n$/);
  });

  test('Streams-5: a query over Server-Sent Events is one event and the end', async () => {
    const stream = await follow({ query: '{ project { slug } }' });
    await ended(stream);
    expect(stream.events).toEqual([
      { event: 'next', id: null, data: { data: { project: { slug: owner.slug } } } },
      { event: 'complete', id: null, data: null },
    ]);
  });

  test.each([
    [
      'urql',
      'application/graphql-response+json, application/json, text/event-stream',
      'graphql-response+json',
    ],
    ['a client that prefers events', 'text/event-stream, application/json;q=0.9', 'json'],
  ])('Streams-20: a query of %s is answered with JSON, also from memory', async (_, accept, type) => {
    for (let times = 0; times < 4; times += 1) {
      const answer = await follow({ query: '{ toys { nodes { name } } }', headers: { accept } });
      await ended(answer);
      expect(answer.headers.get('content-type')).toBe(`application/${type}; charset=utf-8`);
      expect(JSON.parse(answer.text())).toEqual({ data: { toys: { nodes: [] } } });
    }
  });

  test('Streams-21: a refusal has the media type that Apollo Client prefers, so that the client reads its code', async () => {
    const accept =
      'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9';
    for (const options of [{ variables: { after: 'x' } }, { token: 'pk_unknown' }]) {
      const stream = await follow({ ...options, headers: { accept } });
      expect(stream.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
    }
  });

  test.each([
    ['text/event-stream;q=0, multipart/mixed;subscriptionSpec=1.0', 200, 'multipart/mixed'],
    [
      'multipart/mixed;boundary="a";subscriptionSpec="1.0";q=0.5, text/event-stream;q=0.4',
      200,
      'multipart/mixed',
    ],
    ['text/event-stream;q=0.5, multipart/mixed;q=0.1;subscriptionSpec=1.0', 200, 'text/event-stream'],
    ['text/event-stream, multipart/mixed;boundary=graphql;subscriptionSpec=1.0', 200, 'text/event-stream'],
    ['text/*;q=0, text/event-stream', 200, 'text/event-stream'],
    ['TEXT/EVENT-STREAM; Q=1.0', 200, 'text/event-stream'],
    ['text/event-stream; charset=utf-8;q=0.9;ext="a,b"', 200, 'text/event-stream'],
    ['multipart/mixed;deferSpec=20220824, text/event-stream;q=0.1', 200, 'text/event-stream'],
    ['text/event-stream;q=0, application/json', 406, 'application/json'],
    ['text/event-stream;q=0.000, multipart/mixed;subscriptionSpec=1.0;q=0, */*', 406, 'application/json'],
    ['*/*', 406, 'application/json'],
  ])('Streams-36: Accept: %s is answered with %i and %s', async (accept, status, type) => {
    const stream = await follow({ headers: { accept } });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      status,
      expect.stringContaining(type),
    ]);
  });

  describe('refusals', () => {
    const refused = async (options: Partial<Parameters<typeof openStream>[1]>) => {
      const stream = await follow(options);
      await ended(stream);
      const [error] = JSON.parse(stream.text()).errors;
      return [stream.status, error.extensions.code];
    };

    test('Streams-6: a request that is wrong is refused with its status before the stream begins', async () => {
      expect(await refused({ token: 'pk_unknown' })).toEqual([401, 'UNAUTHORIZED']);
      expect(await refused({ variables: { after: 'x' } })).toEqual([400, 'INVALID_REQUEST']);
      expect(await refused({ query: 'subscription { toyChanges { nope } }' })).toEqual([
        400,
        'GRAPHQL_VALIDATION_FAILED',
      ]);
      expect(await refused({ headers: { accept: 'application/json' } })).toEqual([406, 'NOT_ACCEPTABLE']);
      expect(await refused({ method: 'GET', query: 'mutation { deleteToy(id: 1) { id } }' })).toEqual([
        405,
        'METHOD_NOT_ALLOWED',
      ]);
      const { changesCursor: old } = await client.list();
      await closeLog(app(), owner);
      expect(await refused({})).toEqual([409, 'CONFLICT']);
      await openLog(app(), owner);
      expect(await refused({ variables: { after: old } })).toEqual([410, 'GONE']);
      owner = await app().tenant({ scopes: ['toys:write'] });
      expect(await refused({})).toEqual([403, 'FORBIDDEN']);
    });

    const left = async () => (await rest(app().url, '/v1/rate_limit', owner)).body.minute.remaining;

    test('Streams-7: to open a stream costs one unit, its events cost none', async () => {
      const before = await left();
      const stream = await follow();
      expect(before - (await left())).toBe(1);
      await client.create('Rex');
      await stream.received(1);
      expect(before - (await left())).toBe(2);
    });

    test('Streams-8: a project has as many open streams as its plan allows, and a closed one makes room; a refusal says when to try again', async () => {
      owner = await app().tenant({ plan: 'FREE' });
      await openLog(app(), owner);
      const first = await follow();
      const second = await follow();
      expect([first.status, second.status]).toEqual([200, 200]);
      const before = await left();
      for (let sent = 0; sent < 4; sent += 1) {
        expect(await refused({})).toEqual([429, 'TOO_MANY_STREAMS']);
        const { headers } = streams.at(-1) ?? {};
        expect([headers?.get('retry-after'), headers?.get('x-ratelimit-limit')]).toEqual(['30', '60']);
      }
      // A refused request costs nothing.
      expect(await left()).toBe(before);
      first.close();
      await eventually('room for a stream', async () => (await follow()).status === 200);
    });
  });

  test('Streams-26: an open stream is in the request log, and took as long as its head, not as long as it lasts', async () => {
    const stream = await follow({ query: 'subscription Follow { toyChanges { cursor } }' });
    const requests = async () => {
      await app().app.services.requestWriter.flush(true);
      const fields = 'operation status outcome units durationMs';
      const { data } = await client.send(
        `query Look { project { requests(filter: { operation: "Follow" }) { nodes { ${fields} } } } }`,
      );
      return data.project.requests.nodes;
    };
    const logged = [
      { operation: 'Follow', status: 200, outcome: 'OK', units: 1, durationMs: expect.any(Number) },
    ];
    const shown = await requests();
    expect(shown).toEqual(logged);
    stream.close();
    await follow();
    expect(await requests()).toEqual(shown);
  });

  describe('the end', () => {
    test('Streams-9: a revoked key ends its streams, and clients must not connect again', async () => {
      const stream = await follow();
      await app().app.services.apiKeys.revoke(TEST_ACTOR, owner.keyId);
      await ended(stream);
      expect(stream.events.map(({ event }) => event)).toEqual(['next', 'complete']);
      expect(stream.events[0]?.data.errors[0].extensions.code).toBe('UNAUTHORIZED');
    });

    test('Streams-10: a key that expires ends its streams', async () => {
      const expiresAtMs = app().clock.now + 60_000;
      const wanted = {
        projectId: owner.projectId,
        name: 'short',
        scopes: ['toys:read'] as const,
        expiresAtMs,
      };
      const { token } = await app().app.services.apiKeys.create(TEST_ACTOR, wanted);
      const stream = await follow({ token });
      app().clock.now += 60_000;
      await ended(stream);
      expect(stream.events[0]?.data.errors[0].extensions.code).toBe('UNAUTHORIZED');
    });

    test('Streams-11: a lower plan ends the newest streams', async () => {
      owner = await app().tenant({ plan: 'PRO' });
      await openLog(app(), owner);
      const opened: OpenedStream[] = [];
      for (let at = 0; at < 4; at += 1) opened.push(await follow());
      await app().app.services.projects.change(TEST_ACTOR, owner.slug, { plan: 'FREE' });
      await eventually('the end of two', () => opened.filter((stream) => stream.hasEnded()).length === 2);
      expect(opened.map((stream) => stream.hasEnded())).toEqual([false, false, true, true]);
      expect(opened[3]?.events[0]?.data.errors[0].extensions.code).toBe('TOO_MANY_STREAMS');
    });

    test('Streams-25: an Enterprise project has the streams that were agreed, until it leaves the plan', async () => {
      const { projects } = app().app.services;
      await projects.change(TEST_ACTOR, owner.slug, { mostStreams: 1 });
      const [first, second] = [await follow(), await follow()];
      expect([first.status, second.status]).toEqual([200, 429]);
      const agreed = projects.change(TEST_ACTOR, owner.slug, { plan: 'FREE', mostStreams: 5 });
      await expect(agreed).rejects.toMatchObject({ code: 'invalid_request' });
      await projects.change(TEST_ACTOR, owner.slug, { plan: 'FREE' });
      expect((await follow()).status).toBe(200);
    });

    test('Streams-12: a stream ends after 24 hours, and says that the client can resume', async () => {
      const stream = await follow();
      app().clock.now += DAY_MS;
      await ended(stream);
      expect(codeOf(stream)).toBe('UNAVAILABLE');
      expect(stream.text()).toMatch(/^retry: \d+\n/);
      expect(stream.events.map(({ event }) => event)).toEqual(['next']);
    });

    test('Streams-13: a log that is switched off ends the streams of its project', async () => {
      const stream = await follow();
      await closeLog(app(), owner);
      await ended(stream);
      expect(stream.events[0]?.data.errors[0].extensions.code).toBe('CONFLICT');
    });

    test('Streams-14: a stream whose next change is not kept any more ends with GONE', async () => {
      const stream = await follow();
      await client.create('Rex');
      await stream.received(1);
      // As after a restore: the number of the newest change is an older one.
      app().clock.now += 1_000;
      await app().db.repository(ChangeLogRow).update({ projectId: owner.projectId }, { number: 0, atMs: 5 });
      await app().db.repository(ChangeRow).delete({ projectId: owner.projectId });
      await client.create('Luna');
      await ended(stream);
      expect(stream.events.map(({ event, data }) => [event, data?.errors?.[0].extensions.code])).toEqual([
        ['next', undefined],
        ['next', 'GONE'],
        ['complete', undefined],
      ]);
    });
  });
});
