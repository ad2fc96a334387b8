import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { buildSchema, parse } from 'graphql';
import { type StreamEvent, StreamSource } from '../../src/doors/graphql/execution/subscription-fields.js';
import { SERVER_SENT_EVENTS } from '../../src/doors/graphql/streams/stream-format.js';
import { StreamResults } from '../../src/doors/graphql/streams/stream-results.js';
import { LiveStream } from '../../src/doors/graphql/streams/subscriptions.js';
import type { Caller } from '../../src/ground/kernel/caller.js';

/** The connection of a client that reads only when `read` is called. */
class Connection extends Writable {
  text = '';
  private taken: (() => void)[] = [];

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk;
    this.taken.push(done);
  }

  async read(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) {
      this.taken.shift()?.();
      await new Promise(setImmediate);
    }
  }

  writeHead() {}
  flushHeaders() {}
}

test('Streams-27: a heartbeat never names a cursor behind changes that still wait for a slow client', async () => {
  const batch = Array.from({ length: 3 }, (_, at) => ({ cursor: `c${at}` }));
  const batches = [batch];
  const stream = {
    cursor: 'begin',
    onWake: () => {},
    async take() {
      const taken = batches.shift() ?? [];
      stream.cursor = taken.at(-1)?.cursor ?? stream.cursor;
      return taken;
    },
    stop: () => {},
  };
  const args = {
    schema: buildSchema('type Query { text: String } type Subscription { text: String }'),
    document: parse('subscription { text }'),
  };
  const live = new LiveStream({ projectId: 1n } as Caller, SERVER_SENT_EVENTS, new StreamResults());
  live.operation = { args, asked: 'asked' };
  live.source = new StreamSource<StreamEvent>(stream, () => ({ text: 'x'.repeat(40_000) }));
  const raw = new Connection();
  const reply = { raw, hijack: () => {}, getHeaders: () => ({}), removeHeader: () => {} };
  live.begin({ server: {} } as FastifyRequest, reply as unknown as FastifyReply);
  const ids = () => [...raw.text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id);
  for (let turn = 0; turn < 10; turn += 1) {
    await new Promise(setImmediate);
    live.beat();
  }
  await raw.read();
  expect(ids()).toEqual(['c0', 'c1', 'c2']);
  live.beat();
  await raw.read();
  expect(ids()).toEqual(['c0', 'c1', 'c2', 'c2']);
});
