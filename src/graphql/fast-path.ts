import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { type Cost, ONE_UNIT } from '../admission/cost.js';
import type { JsonText } from '../http/json-body.js';
import { readerOf } from '../response-cache/reader.js';
import { Flight, type KeptResponse, type ResponseCache } from '../response-cache/response-cache.js';
import { textBytes } from '../response-cache/text-bytes.js';
import type { CompiledOperations } from './compiled-operations.js';
import type { Context } from './context.js';
import type { CompiledOperation, KnownOperation } from './known-operation.js';
import { sizeProblem } from './operation-limits.js';

const MAX_ASKED = 2_000;
const MAX_ASKED_BYTES = 4 * 1024 * 1024;
/** Apollo's own. */
const TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

type Answer = KeptResponse | null;

/** What a request asks for, once that is known to be an operation of an allowed size. The variables stay in its text. */
interface Asked {
  operation: KnownOperation;
  cost: Cost;
  type: string;
}

/** A request to be answered from memory or by its operation. */
interface Question {
  text: string;
  body: JsonText;
  asked: Asked;
}

/** What an entry takes beside its text. */
const ASKED_BYTES = 500;

/**
 * Answers POSTs of operations that are known, valid and free of side effects: from memory when the data is known to be
 * unchanged, otherwise by the compiled operation. Everything else, and whatever goes wrong here, is Apollo's.
 */
export class FastPath {
  /** By the bytes of the request. */
  private readonly asked = new LRUCache<string, Asked>({
    max: MAX_ASKED,
    maxSize: MAX_ASKED_BYTES,
    sizeCalculation: (_, text) => textBytes(text) + ASKED_BYTES,
  });

  constructor(
    private readonly operations: CompiledOperations,
    private readonly cache: ResponseCache,
  ) {}

  /**
   * Null = Apollo answers; what was charged stays charged. A promise only where there is something to wait for. Throws, or
   * rejects with, `AppError` 429 when the quota is spent.
   */
  answer(request: FastifyRequest, body: JsonText, context: Context): Answer | Promise<Answer> {
    const text = `${request.headers.accept ?? ''}\n${context.origin ?? ''}\n${body.text}`;
    const asked = this.known(text) ?? this.read(request, body);
    if (!asked) return null;
    const charging = context.charge(asked.cost);
    const question = { text, body, asked };
    return charging
      ? charging.then(() => this.compiled(question, context))
      : this.compiled(question, context);
  }

  private compiled(question: Question, context: Context): Answer | Promise<Answer> {
    const compiled = this.operations.compile(question.asked.operation, context.caller.projectId);
    const find = (operation: CompiledOperation | null) =>
      operation && this.find(operation, question, context);
    return compiled instanceof Promise ? compiled.then(find) : find(compiled);
  }

  private known(text: string): Asked | undefined {
    const asked = this.asked.get(text);
    return asked?.operation.isUsable ? asked : undefined;
  }

  private find(
    operation: CompiledOperation,
    { text, body, asked }: Question,
    context: Context,
  ): Answer | Promise<Answer> {
    const answer = () => execute(operation, { body, type: asked.type }, context);
    const reader = readerOf(context.caller, context.standing());
    if (reader === null) return answer();
    const taken = this.cache.take(reader, text);
    if (!(taken instanceof Flight)) return taken;
    if (taken.isRepeated) this.asked.set(text, asked);
    return fly(taken, answer());
  }

  private read({ headers }: FastifyRequest, body: JsonText): Asked | null {
    const asked = parametersOf(body.parse());
    const source = asked && (asked.query ?? this.operations.sourceOf(asked.queryHash));
    if (!source) return null;
    const operation = this.operations.find(source, asked.operationName);
    const type = headers.accept === undefined ? TYPES[0] : new Negotiator({ headers }).mediaType(TYPES);
    const size = operation?.sizeWith(asked.variables);
    if (!operation || !size || sizeProblem(size) || type === undefined) return null;
    // What may be kept is about pets.
    return { operation, cost: { ...ONE_UNIT, pets: Math.max(1, size.rootFields) }, type };
  }
}

async function fly(flight: Flight, answering: Promise<Answer>): Promise<Answer> {
  let answer: Answer = null;
  try {
    answer = await answering;
  } finally {
    flight.land(answer);
  }
  return answer;
}

async function execute(
  operation: CompiledOperation,
  { body, type }: { body: JsonText; type: string },
  context: Context,
): Promise<Answer> {
  const variables = parametersOf(body.parse())?.variables ?? {};
  const result = await operation.query(undefined, context, variables);
  // Errors are Apollo's to find again, to report and to write.
  if (result.errors) return null;
  // Apollo ends each answer with a line feed.
  return {
    body: `${operation.stringify(result)}\n`,
    headers: { 'content-type': type, 'cache-control': 'no-store' },
  };
}

interface Parameters {
  query: string | null;
  /** Used where there is no query. GraphQL over HTTP; Apollo's automatic persisted queries. */
  queryHash: string;
  operationName: string | null;
  variables: Record<string, unknown>;
}

const NAMES: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

/** The parameters of a request in the form that nearly all clients send; null for any other. */
function parametersOf(body: unknown): Parameters | null {
  if (!isRecord(body) || !Object.keys(body).every((name) => NAMES.has(name))) return null;
  const { query = null, operationName = null, variables, extensions } = body;
  if (query !== null && typeof query !== 'string') return null;
  if (operationName !== null && typeof operationName !== 'string') return null;
  if (variables != null && !isRecord(variables)) return null;
  const queryHash = query === null ? hashOf(extensions) : '';
  // With a query, extensions ask for more than an answer.
  if (queryHash === null || (query !== null && extensions != null)) return null;
  return { query, queryHash, operationName, variables: variables ?? {} };
}

function hashOf(extensions: unknown): string | null {
  if (!isRecord(extensions) || Object.keys(extensions).length !== 1) return null;
  const { persistedQuery } = extensions;
  if (!isRecord(persistedQuery) || persistedQuery.version !== 1) return null;
  return typeof persistedQuery.sha256Hash === 'string' ? persistedQuery.sha256Hash : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
