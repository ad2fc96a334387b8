import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { followStream, type StreamedResult, type StreamState } from '../../browser/result-stream.js';
import { eventually } from '../support/eventually.js';

/** Speaks the protocol as the test says, request by request. */
let server: Server;
let url: string;
let answers: ((request: IncomingMessage, response: ServerResponse) => void)[];
let requests: { headers: IncomingMessage['headers']; atMs: number }[];
let heard: { states: StreamState['kind'][]; results: StreamedResult[]; ends: (StreamedResult | null)[] };
let close = () => {};

beforeEach(async () => {
  answers = [];
  requests = [];
  heard = { states: [], results: [], ends: [] };
  server = createServer((request, response) => {
    requests.push({ headers: request.headers, atMs: performance.now() });
    (answers.shift() ?? refuses(500))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  close();
  server.closeAllConnections();
  server.close();
});

const follow = () => {
  close = followStream(
    { url, headers: { authorization: 'Bearer pk_test' }, body: { query: 'subscription { a }' } },
    {
      state: ({ kind }) => heard.states.push(kind),
      next: (result) => heard.results.push(result),
      end: (refusal) => heard.ends.push(refusal),
    },
  );
};

/** Sends the texts one after the other. The connection then stays open, unless `ends`. */
const streams =
  (texts: readonly (string | Buffer)[], { ends = false } = {}) =>
  async (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for (const text of texts) {
      await new Promise((resolve) => response.write(text, resolve));
      await new Promise(setImmediate);
    }
    if (ends) response.destroy();
  };

const refuses =
  (status: number, body: object = {}, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

const event = (number: number) => `id: c${number}\nevent: next\ndata: {"data":{"a":${number}}}\n\n`;
const numbers = () => heard.results.map(({ data }) => data?.a);
const refusal = (code: string) => ({ errors: [{ message: code, extensions: { code } }] });

test('ResultStream-1: events arrive whole and in order, however the connection cuts them', async () => {
  const bytes = Buffer.from(
    ': heartbeat\r\n\r\nid: c1\r\nevent: next\r\ndata: {"data":\r\ndata: {"a":"ü"}}\r\n\r\n' +
      'event:next\ndata:{"data":{"a":2}}\n\nid\n\nevent: other\ndata: {}\n\nevent: next\rdata: {"data":{"a":3}}\r\rx',
  );
  answers.push(streams([...bytes].map((byte) => Buffer.from([byte]))));
  follow();
  await eventually('three events', () => heard.results.length === 3);
  expect(numbers()).toEqual(['ü', 2, 3]);
  expect(requests[0]?.headers).toMatchObject({
    accept: 'text/event-stream',
    authorization: 'Bearer pk_test',
    'content-type': 'application/json',
  });
  expect(requests[0]?.headers['last-event-id']).toBeUndefined();
});

test('ResultStream-2: a lost stream is opened again behind its last event, heartbeats included, after the time that the gateway asks for', async () => {
  answers.push(
    streams([event(1), 'retry: 150\nid: c7\n\n'], { ends: true }),
    streams(['retry: 10\n\n', event(8)], { ends: true }),
    streams([event(9)]),
  );
  follow();
  await eventually('three events', () => heard.results.length === 3);
  expect(numbers()).toEqual([1, 8, 9]);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'c7', 'c8']);
  const [first, second] = requests;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(100);
  expect(heard.states).toEqual([
    'connecting',
    'live',
    'away',
    'connecting',
    'live',
    'away',
    'connecting',
    'live',
  ]);
  expect(heard.ends).toEqual([]);
});

test('ResultStream-3: a stream that the gateway completes is over, with the reason if there is one', async () => {
  for (const [texts, end] of [
    [[event(1), 'event: complete\ndata:\n\n'], null],
    [
      [`event: next\ndata: ${JSON.stringify(refusal('UNAUTHORIZED'))}\n\nevent: complete\ndata:\n\n`],
      refusal('UNAUTHORIZED'),
    ],
  ] as const) {
    const before = requests.length;
    answers.push(streams(texts));
    follow();
    await eventually('the end', () => heard.ends.length > 0);
    expect(heard.ends.splice(0)).toEqual([end]);
    expect(requests.length).toBe(before + 1);
  }
  expect(numbers()).toEqual([1]);
});

test('ResultStream-4: a reason without an end, as at a shutdown, is told nobody, and the stream is opened again', async () => {
  const failed = { data: null, errors: [{ message: 'of an event' }] };
  answers.push(
    streams(
      [
        event(1),
        `event: next\ndata: ${JSON.stringify(failed)}\n\n`,
        `retry: 5\nevent: next\ndata: ${JSON.stringify(refusal('UNAVAILABLE'))}\n\n`,
      ],
      {
        ends: true,
      },
    ),
    streams([event(2)]),
  );
  follow();
  await eventually('the next event', () => heard.results.length === 3);
  expect(heard.results).toEqual([{ data: { a: 1 } }, failed, { data: { a: 2 } }]);
  expect(heard.ends).toEqual([]);
});

test('ResultStream-5: a refused stream is over; one that was live before waits for 429 and 503, and ends at 410', async () => {
  answers.push(refuses(429, refusal('TOO_MANY_STREAMS')));
  follow();
  await eventually('refused', () => heard.ends.length === 1);
  expect(heard.ends.splice(0)).toEqual([refusal('TOO_MANY_STREAMS')]);
  expect(heard.states.splice(0)).toEqual(['connecting']);

  answers.push(
    streams(['retry: 5\n\n', event(1)], { ends: true }),
    refuses(503),
    refuses(429, refusal('TOO_MANY_STREAMS')),
    refuses(410, refusal('GONE')),
  );
  follow();
  await eventually('gone', () => heard.ends.length === 1);
  expect(heard.ends).toEqual([refusal('GONE')]);
  expect(requests).toHaveLength(5);
});

test('ResultStream-6: Retry-After is respected, and attempts come at longer and longer intervals', async () => {
  answers.push(
    streams(['retry: 20\n\n'], { ends: true }),
    refuses(503, {}, { 'retry-after': '1' }),
    refuses(503),
    streams([event(1)]),
  );
  follow();
  await eventually('live again', () => heard.results.length === 1);
  const waits = requests.slice(1).map(({ atMs }, at) => atMs - (requests[at]?.atMs ?? 0));
  expect(waits[1]).toBeGreaterThanOrEqual(1_000);
  // 20 ms doubled twice, and at least three quarters of it.
  expect(waits[2]).toBeGreaterThanOrEqual(60);
});

test('ResultStream-7: a stream without a byte for 40 s counts as lost', async () => {
  jest.useFakeTimers({
    now: Date.now(),
    doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'],
  });
  try {
    answers.push(streams([event(1)]), streams([event(2)]));
    follow();
    await until(() => heard.results.length === 1);
    jest.advanceTimersByTime(39_000);
    expect(requests).toHaveLength(1);
    jest.advanceTimersByTime(1_000);
    await until(() => heard.states.at(-1) === 'away');
    jest.advanceTimersByTime(2_500);
    await until(() => heard.results.length === 2);
    expect(requests[1]?.headers['last-event-id']).toBe('c1');
  } finally {
    jest.useRealTimers();
  }
});

test('ResultStream-8: nothing is heard of a closed stream, and the gateway sees its end', async () => {
  let isOpen = true;
  answers.push((request, response) => {
    response.on('close', () => {
      isOpen = false;
    });
    void streams([event(1), event(2)])(request, response);
  });
  follow();
  await eventually('live', () => heard.states.includes('live'));
  close();
  const { length } = heard.results;
  await eventually('closed', () => !isOpen);
  expect(heard.results).toHaveLength(length);
  expect(heard.ends).toEqual([]);
  expect(requests).toHaveLength(1);
});

/** As `eventually`, by turns of the event loop: the timers stand still. */
async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise(setImmediate);
}
