import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { GraphQLRequestContextDidResolveOperation } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  createSourceEventStream,
  type ExecutionArgs,
  execute,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import type { Caller } from '../../../ground/kernel/caller.js';
import { AppError } from '../../../ground/kernel/errors.js';
import type { Change } from '../../../ground/records/noun-changes.js';
import { toAppError } from '../../../request/http/error-reply.js';
import type { OpenStreams, Stream } from '../../../request/streams/open-streams.js';
import type { Context } from '../execution/context.js';
import { causeOf, formatError, refusal } from '../execution/errors.js';
import type { ChangeSource } from '../schema/lists/change.type.js';
import type { StreamFormat } from './stream-format.js';

/** Written at once; more waits until the client has read. The process keeps at most twice as much for a slow reader. */
const WRITTEN_CHARACTERS = 32_768;

const NO_STREAM =
  'A subscription is answered with a stream. Send Accept: text/event-stream, or multipart/mixed;subscriptionSpec=1.0.';

/** Different operations of which the results of an event are kept. */
const MOST_SHARED = 16;

type Resolved = GraphQLRequestContextDidResolveOperation<Context>;

/** What a client that accepts a stream gets; `opened` = its operation is a subscription. */
export interface AskedStream {
  readonly format: StreamFormat;
  opened: LiveStream | null;
}

/** The subscriptions of the schema as streams. */
export class Subscriptions {
  /** The requests that can be answered with a stream. */
  readonly asked = new WeakMap<FastifyRequest, AskedStream>();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly streams: OpenStreams,
  ) {}

  /** Opens the stream of a valid subscription. Throws a refusal. */
  async open({ document, operationName, request, contextValue, queryHash }: Resolved): Promise<void> {
    const asked = this.asked.get(contextValue.request);
    if (!asked) throw refusal(new AppError('not_acceptable', NO_STREAM));
    const args: ExecutionArgs = {
      schema: this.schema,
      document,
      operationName,
      variableValues: request.variables,
      contextValue: { ...contextValue, operation: null },
    };
    const key = JSON.stringify([queryHash, operationName, request.variables]);
    const stream = new LiveStream(contextValue.caller, asked.format, args, key);
    stream.onClose = () => this.streams.close(stream);
    try {
      await this.streams.open(stream);
      const source = await createSourceEventStream(args);
      if ('errors' in source) throw source.errors?.[0];
      stream.source = source as unknown as ChangeSource<unknown>;
    } catch (error) {
      stream.close();
      throw refusal(toAppError(causeOf(error)));
    }
    asked.opened = stream;
  }
}

/** Results of one event, by what was asked: streams with the same operation share them. */
const results = new WeakMap<object, Map<string, string>>();

/** Unique over all processes. A UUID for each stream takes half a kilobyte. */
const PROCESS = randomUUID();
let opened = 0;

/** A subscription that is being answered. */
export class LiveStream implements Stream {
  readonly id = `${PROCESS}.${++opened}`;
  sentAtMs = performance.now();
  source: ChangeSource<unknown> | null = null;
  onClose: () => void = () => {};
  private raw: ServerResponse | null = null;
  private isSending = false;
  private ending: { reason: AppError; isFinal: boolean } | null = null;

  constructor(
    readonly caller: Caller,
    private readonly format: StreamFormat,
    private readonly args: ExecutionArgs,
    private readonly asked: string,
  ) {}

  /** Sends the head of the answer, and then the results as they come. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    clearTimeout(request.answerTimer);
    // Ten thousand idle streams keep nothing that they do not need.
    request.body = undefined;
    const { raw } = reply;
    this.raw = raw;
    raw.once('close', () => this.close());
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': this.format.contentType,
      'cache-control': 'no-store',
      // nginx would keep the results until its buffer is full.
      'x-accel-buffering': 'no',
    });
    // Alone: Node keeps the head, and a string that is written becomes flat.
    raw.flushHeaders();
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
    this.write(this.format.begin());
    // From now on the answer is not counted as work.
    raw.emit('live');
    if (this.ending) this.end(this.ending.reason, this.ending.isFinal);
    else void this.run().catch((error) => this.end(toAppError(causeOf(error)), true));
  }

  /** Nothing while results wait for the client: the cursor is behind them, and a client that resumed from it would miss them. */
  beat(): void {
    if (this.source && this.raw && !this.isSending) this.write(this.format.beat(this.source.stream.cursor));
  }

  end(reason: AppError, isFinal: boolean): void {
    this.ending ??= { reason, isFinal };
    if (!this.raw || this.raw.writableEnded) return;
    const error = new GraphQLError(reason.message, { originalError: reason });
    this.raw.end(this.format.end(JSON.stringify([formatError(error.toJSON(), error)]), isFinal));
    this.close();
  }

  /** Also called for a client that disconnected before the stream began. */
  close(): void {
    this.source?.stream.stop();
    this.source = null;
    this.onClose();
  }

  private async run(): Promise<void> {
    const source = this.source as ChangeSource<unknown>;
    for (let events = await source.stream.next(); events; events = await source.stream.next()) {
      let text = '';
      this.isSending = true;
      for (const event of events) {
        text += this.format.result(await this.resultOf(event, source.present), event.cursor);
        if (text.length < WRITTEN_CHARACTERS) continue;
        await this.send(text);
        text = '';
      }
      if (text !== '') await this.send(text);
      this.isSending = false;
    }
  }

  private async resultOf(event: Change<unknown>, present: ChangeSource<unknown>['present']): Promise<string> {
    const known = results.get(event) ?? new Map<string, string>();
    results.set(event, known);
    const shared = known.get(this.asked);
    if (shared !== undefined) return shared;
    const { data, errors } = await execute({ ...this.args, rootValue: present(event) });
    const shown = errors && { errors: errors.map((error) => formatError(error.toJSON(), error)) };
    const result = JSON.stringify({ data, ...shown });
    if (known.size < MOST_SHARED) known.set(this.asked, result);
    return result;
  }

  /** Resolves once the client has taken the text, or is gone. */
  private async send(text: string): Promise<void> {
    if (this.write(text)) return;
    const raw = this.raw as ServerResponse;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        raw.off('drain', goOn).off('close', goOn);
        resolve();
      };
      raw.on('drain', goOn).on('close', goOn);
    });
  }

  private write(text: string): boolean {
    const raw = this.raw as ServerResponse;
    if (raw.writableEnded || raw.destroyed) return true;
    this.sentAtMs = performance.now();
    return raw.write(text);
  }
}
