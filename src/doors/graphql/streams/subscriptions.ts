import { hash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { GraphQLRequestContextDidResolveOperation } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createSourceEventStream, GraphQLError, type GraphQLSchema, separateOperations } from 'graphql';
import type { Caller } from '../../../ground/kernel/caller.js';
import { AppError } from '../../../ground/kernel/errors.js';
import { logFault, toAppError } from '../../../request/http/error-reply.js';
import type { OpenStreams, Stream } from '../../../request/streams/open-streams.js';
import type { Context } from '../execution/context.js';
import { causeOf, formatError, refusal } from '../execution/errors.js';
import type { StreamSource } from '../execution/subscription-fields.js';
import type { StreamFormat } from './stream-format.js';
import { loggerOf, type StreamOperation, StreamResults } from './stream-results.js';

/** Written at once; more waits until the client has read. A character has up to three bytes: with a result, 64 KB. */
const WRITTEN_CHARACTERS = 10_000;

const NO_STREAM =
  'A subscription is answered with a stream. Send Accept: text/event-stream, or multipart/mixed;subscriptionSpec=1.0.';

/** A stream keeps its operation in memory. */
const MOST_CHARACTERS = 10_000;
const MOST_SELECTIONS = 100;

type Resolved = GraphQLRequestContextDidResolveOperation<Context>;

/** A request that accepts a stream; `opened` = its operation is a subscription. */
export interface AskedStream {
  readonly format: StreamFormat;
  opened: LiveStream | null;
}

/** The subscriptions of the schema as streams. */
export class Subscriptions {
  /** The requests that can be answered with a stream. */
  readonly asked = new WeakMap<FastifyRequest, AskedStream>();
  private readonly results = new StreamResults();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly streams: OpenStreams,
  ) {}

  /** Throws the refusal of a client that accepts no stream. */
  requireAsked({ request }: Context): AskedStream {
    const asked = this.asked.get(request);
    if (!asked) throw refusal(new AppError('not_acceptable', NO_STREAM));
    return asked;
  }

  /**
   * Takes a place for the stream of a subscription, before it is charged: a refusal costs nothing. D-262.
   * `close` gives it back. Throws a refusal.
   */
  async reserve(context: Context): Promise<LiveStream> {
    const { format } = this.requireAsked(context);
    const stream = new LiveStream(context.caller, format, this.results);
    // Of management nothing is in the change log.
    stream.needsLog = context.operation?.cost.plan !== 0;
    stream.isServed = context.request.site.isServed;
    stream.onClose = () => this.streams.close(stream);
    await this.streams.open(stream);
    return stream;
  }

  /** Starts the stream of a valid subscription. Throws a refusal. */
  async start(stream: LiveStream, resolved: Resolved): Promise<void> {
    const { contextValue, source: document } = resolved;
    const selections = contextValue.operation?.size.selections ?? 0;
    if (document.length > MOST_CHARACTERS || selections > MOST_SELECTIONS) {
      const message = `A subscription may have ${MOST_SELECTIONS} selections, its document ${MOST_CHARACTERS} characters.`;
      throw refusal(new AppError('invalid_request', message));
    }
    const operation = operationOf(this.schema, resolved);
    const source = await createSourceEventStream(operation.args);
    if ('errors' in source) throw refusal(toAppError(causeOf(source.errors?.[0])));
    Object.assign(stream, { operation, source });
    this.requireAsked(contextValue).opened = stream;
  }
}

/** The operation without the client's other operations and values, which would stay in memory as long as the stream. */
function operationOf(
  schema: GraphQLSchema,
  { document, operation, request, contextValue, queryHash }: Resolved,
): StreamOperation {
  const name = operation?.name?.value ?? '';
  const declared = new Set(operation?.variableDefinitions?.map(({ variable }) => variable.name.value));
  const given = Object.entries(request.variables ?? {});
  const variableValues = Object.fromEntries(given.filter(([variable]) => declared.has(variable)));
  const args = {
    schema,
    document: document.definitions.length === 1 ? document : (separateOperations(document)[name] ?? document),
    variableValues,
    contextValue: { ...contextValue, operation: null },
  };
  return { args, asked: hash('sha256', JSON.stringify([queryHash, name, variableValues]), 'base64url') };
}

/** Unique over all processes. A UUID for each stream takes half a kilobyte. */
const PROCESS = randomUUID();
let opened = 0;

/** A subscription that is being answered. */
export class LiveStream implements Stream {
  readonly id = `${PROCESS}.${++opened}`;
  sentAtMs = performance.now();
  needsLog = true;
  isServed: Stream['isServed'] = null;
  source: StreamSource | null = null;
  /** With its source. */
  operation: StreamOperation | null = null;
  onClose: () => void = () => {};
  private raw: ServerResponse | null = null;
  private isAwake = false;
  private isSending = false;
  /** Its cursor is behind events that are not written yet. */
  private isBehind = false;
  private ending: { reason: AppError; isFinal: boolean } | null = null;

  constructor(
    readonly caller: Caller,
    private readonly format: StreamFormat,
    private readonly results: StreamResults,
  ) {}

  /** Sends the head of the answer, and then the results as they come. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    clearTimeout(request.answerTimer);
    const { raw } = reply;
    this.raw = raw;
    raw.on('close', () => this.close());
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
    this.write(this.format.begin());
    // From now on the answer is not counted as work.
    raw.emit('live');
    // Ten thousand idle streams keep nothing that they do not need.
    const { log } = request.server;
    Object.assign(request, { answerTimer: undefined, body: undefined, standing: null, log });
    reply.log = log;
    if (this.ending) this.end(this.ending.reason, this.ending.isFinal);
    else if (this.source) {
      this.source.stream.onWake = () => void this.send().catch((error) => this.fail(request, error));
      this.source.stream.onWake();
    }
  }

  /** Nothing while results wait for the client: the cursor is behind them, and a client that resumed from it would miss them. */
  beat(): void {
    if (this.source && this.raw && !this.isBehind) this.write(this.format.beat(this.source.stream.cursor));
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

  private fail(request: FastifyRequest, error: unknown): void {
    const reason = toAppError(causeOf(error));
    logFault(loggerOf(request), reason);
    this.end(reason, true);
  }

  /** Sends the events that have come. */
  private async send(): Promise<void> {
    this.isAwake = true;
    if (this.isSending) return;
    this.isSending = true;
    while (this.source && this.isAwake) {
      this.isAwake = false;
      await this.sendEvents(this.source, this.operation as StreamOperation);
    }
    this.isSending = false;
  }

  private async sendEvents({ stream, present }: StreamSource, operation: StreamOperation): Promise<void> {
    const events = await stream.take();
    this.isBehind = events.length > 0;
    let text = '';
    for (const event of events) {
      const result = await this.results.of(event, operation, {
        projectId: this.caller.projectId,
        present,
      });
      text += this.format.result(result, event.cursor);
      if (text.length < WRITTEN_CHARACTERS && event !== events.at(-1)) continue;
      // A client that is gone takes nothing, so this waits for ever, and both are garbage.
      if (!this.write(text)) await new Promise((resolve) => this.writer.once('drain', resolve));
      text = '';
    }
    this.isBehind = false;
  }

  /**
   * The socket takes a chunk in one part. Node's response gives it four, and ten thousand idle streams would allocate so much
   * for their heartbeats that V8 keeps its largest space for new objects.
   */
  private get writer(): Writable {
    const { socket, chunkedEncoding } = this.raw as ServerResponse;
    return socket && chunkedEncoding ? socket : (this.raw as ServerResponse);
  }

  /** Returns false if the client has to take it first. */
  private write(text: string): boolean {
    const raw = this.raw as ServerResponse;
    if (raw.writableEnded || raw.destroyed) return true;
    this.sentAtMs = performance.now();
    const { writer } = this;
    return writer.write(writer === raw ? text : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  }
}
