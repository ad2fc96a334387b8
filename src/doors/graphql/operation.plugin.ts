import {
  type ApolloServerPlugin,
  type GraphQLRequestContext,
  type GraphQLRequestContextDidResolveOperation,
  type GraphQLRequestContextWillSendResponse,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server';
import {
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  printSchema,
  specifiedRules,
  validate,
} from 'graphql';
import { AppError } from '../../ground/kernel/errors.js';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { isKnownTag, strongTag } from '../../request/http/content/entity-tag.js';
import { errorHeaders, toAppError } from '../../request/http/error-reply.js';
import { type Context, serviceCallOf } from './execution/context.js';
import { causeOf, formatError, logFaults, refusal } from './execution/errors.js';
import type { NestedSources } from './execution/nested-fields.js';
import type { KnownDocuments } from './known-documents.js';
import type { KnownOperations } from './known-operations.js';
import { LongReads } from './long-reads.js';
import { LONG_READ_FIELDS, type OperationCharges } from './operation-charges.js';
import { countIntrospection } from './operations/introspection-size.js';
import { MAX_INTROSPECTED, sizeProblem } from './operations/measured-operation.js';
import { variablesIn } from './operations/operation-size.js';
import type { NullVariables } from './operations/selections.js';
import { documentProblem } from './operations/selections.js';
import { presentRateLimit } from './schema/rate-limit.resolver.js';
import type { LiveStream, Subscriptions } from './streams/subscriptions.js';

/** Each error repeats the variable: graphql's own limit of 50 errors takes 350 ms for a large variable. */
const MAX_VARIABLE_ERRORS = 3;

type Resolved = GraphQLRequestContextDidResolveOperation<Context>;
type Executed = GraphQLRequestContextWillSendResponse<Context>;
type Problems = { code: string; errors: readonly GraphQLError[] };

export interface OperationPluginOptions {
  schema: GraphQLSchema;
  charges: OperationCharges;
  documents: KnownDocuments;
  nullVariables: NullVariables;
  nestedSources: NestedSources | null;
  known: KnownOperations;
  turns: EventLoopTurns;
  subscriptions: Subscriptions;
}

/**
 * Adds to Apollo: admission before an operation, the turn of a long read, and after it the headers, log lines and memory.
 * All of it is a single plugin, because Apollo runs the hooks of several plugins concurrently.
 *
 * Admission measures, refuses what is too large, charges, validates, stores. So a document that nobody paid for costs only
 * its parsing, and validation sees only documents of an allowed size. Apollo's own validation is off: it would run before
 * the charge. D-28.
 */
export function operationPlugin(options: OperationPluginOptions): ApolloServerPlugin<Context> {
  const { schema, documents, known, turns, subscriptions } = options;
  const longReads = new LongReads(turns);
  const isKnownSchema = schemaTags(schema);
  return {
    async requestDidStart({ request, contextValue }) {
      // Apollo refuses each GET that is not a query's.
      if (request.http?.method === 'GET' && subscriptions.asked.has(contextValue.request)) {
        request.http = { ...request.http, method: 'POST' };
      }
      // GraphQL over HTTP: as if the client had sent none.
      if (request.operationName === '') delete request.operationName;
      let invalid: Problems | null = null;
      return {
        // Apollo parses a request that has no document yet.
        async didResolveSource(resolving) {
          Object.assign(resolving, { document: documents.of(resolving.queryHash) });
        },
        // Not earlier: a GraphQLError thrown in requestDidStart becomes a 500.
        async didResolveOperation(resolved) {
          invalid = await admit(resolved, options);
        },
        // A hook can throw only one error; validation may find several.
        async responseForOperation(resolved) {
          if (invalid) return emptyResponse(400, errorsOf(invalid));
          // The door removes the body.
          if (isKnownSchema(resolved)) return emptyResponse(304);
          const { operation, caller, reply } = resolved.contextValue;
          // The door sends its stream.
          if (operation?.type === 'subscription') return emptyResponse(200);
          if (operation?.isLarge && !operation.isLong) await turns.next(caller.projectId);
          if (!operation?.isLong) return null;
          // The last step before execution: every read that begins here is executed, and ends.
          await longReads.startRead(caller);
          if (!reply.sent && !reply.raw.destroyed) return null;
          longReads.finishRead(caller);
          // No client reads it.
          return emptyResponse(503);
        },
        async executionDidStart({ contextValue: { operation, caller } }) {
          return operation?.isLong
            ? { executionDidEnd: async () => longReads.finishRead(caller) }
            : undefined;
        },
        async didEncounterErrors({ errors, contextValue }) {
          logFaults(errors, contextValue.request);
        },
        async willSendResponse(executed) {
          known.learn(executed);
          finishResponse(executed);
        },
      };
    },
  };
}

/** Returns what is wrong with a charged operation; null = it may be executed. Throws a refusal. */
async function admit(resolved: Resolved, options: OperationPluginOptions): Promise<Problems | null> {
  const { charges, documents, subscriptions } = options;
  const { document, operation, request, contextValue, queryHash } = resolved;
  const isValid = documents.of(queryHash) === document;
  const problem = isValid ? null : documentProblem(document);
  if (problem) throw refusal(problem);
  // Without an operation graphql reports the problem after validation. The client's `operationName` names nothing.
  const measured = operation
    ? charges.measure({ document, operation }, variablesIn(request.variables ?? {}))
    : null;
  contextValue.operation = measured;
  let stream: LiveStream | null = null;
  try {
    if (measured?.type === 'subscription') stream = await subscriptions.reserve(contextValue);
    await charges.charge(measured, contextValue.request, contextValue.reply);
    const problems = await check(resolved, isValid, options);
    if (stream && !problems) await subscriptions.start(stream, resolved);
    else stream?.close();
    return problems;
  } catch (error) {
    stream?.close();
    const reason = toAppError(causeOf(error));
    if (reason.code === 'too_many_streams') await charges.waive(measured, contextValue);
    throw refusal(reason, contextValue.request.server.names);
  }
}

/** Validates a paid operation and its variables. Returns what is wrong; null = nothing. Throws a refusal. */
async function check(
  resolved: Resolved,
  isKnown: boolean,
  { schema, documents, nullVariables, nestedSources, turns }: OperationPluginOptions,
): Promise<Problems | null> {
  const { document, operation, request, contextValue, queryHash, source, metrics } = resolved;
  if (operation?.operation === 'mutation' && contextValue.request.method === 'GET') {
    throw refusal(new AppError('method_not_allowed', 'A mutation needs POST.'));
  }
  if (!isKnown) {
    await turns.next(contextValue.caller.projectId);
    const errors = validate(schema, document, [...specifiedRules, nullVariables.rule]);
    if (errors.length > 0) {
      metrics.persistedQueryRegister = false;
      return { code: 'GRAPHQL_VALIDATION_FAILED', errors };
    }
    documents.store(queryHash, source, document);
  }
  // Execution continues to 50 errors, and then fails with an internal error.
  const { variables = {} } = request;
  const definitions = operation?.variableDefinitions ?? [];
  const { coerced = {}, errors = nullVariables.problemsOf(operation, variables, MAX_VARIABLE_ERRORS) } =
    getVariableValues(schema, definitions, variables, { maxErrors: MAX_VARIABLE_ERRORS });
  if (errors.length > 0) return { code: 'BAD_USER_INPUT', errors };
  measureIntrospection(schema, resolved, coerced);
  const nested = operation && nestedSources?.(document, operation, variablesIn(coerced));
  for (const source of nested ?? []) source.requireReader(serviceCallOf(contextValue));
  return null;
}

/** Throws for an operation that reads too much of the schema. The document must be valid: a schema's fields are cyclic. */
function measureIntrospection(
  schema: GraphQLSchema,
  { document, operation, contextValue }: Resolved,
  variables: Record<string, unknown>,
): void {
  const { operation: planned } = contextValue;
  if (operation?.operation !== 'query' || !planned?.readsSchema) return;
  const introspected = countIntrospection(schema, document, operation, { variables, most: MAX_INTROSPECTED });
  const problem = sizeProblem({ introspected });
  if (problem) throw refusal(problem);
  if (introspected > LONG_READ_FIELDS) contextValue.operation = { ...planned, isLong: true };
}

function errorsOf({ code, errors }: Problems) {
  return errors.map((error) => formatError({ ...error.toJSON(), extensions: { code } }, error));
}

function emptyResponse(status: number, errors?: ReturnType<typeof errorsOf>): GraphQLResponse {
  const singleResult = errors ? { errors } : {};
  return { http: { status, headers: new HeaderMap() }, body: { kind: 'single', singleResult } };
}

/**
 * Gives a GET that reads the schema a strong ETag, of schema and query. Returns whether the client already has the response:
 * then it gets 304, and nothing is executed. RFC 9110 §13.1.2.
 */
function schemaTags(schema: GraphQLSchema) {
  const printed = printSchema(schema);
  return ({ request, response, source = '', contextValue }: GraphQLRequestContext<Context>): boolean => {
    const isRead = request.http?.method === 'GET' && contextValue.operation?.cost.schema === 1;
    // The remaining quota differs in each response.
    if (!isRead || request.extensions?.rateLimit) return false;
    const variables = JSON.stringify(request.variables ?? {});
    const tag = strongTag(printed, source, request.operationName ?? '', variables);
    response.http.headers.set('etag', tag);
    response.http.headers.set('cache-control', 'private, no-cache');
    const known = request.http?.headers.get('if-none-match');
    return known !== undefined && isKnownTag(known, tag);
  };
}

/**
 * Notes the code of the first error, sets Retry-After for refused fields, and responds with 503 if the database prevented
 * every result. Adds the state of the quota if the request has `"extensions": { "rateLimit": true }`. D-10.
 */
function finishResponse({ request, errors, response, contextValue }: Executed): void {
  if (response.body.kind !== 'single') return;
  const { singleResult } = response.body;
  const { data, errors: shown } = singleResult;
  const { standing } = contextValue.request;
  if (standing && request.extensions?.rateLimit) {
    singleResult.extensions = { ...singleResult.extensions, rateLimit: presentRateLimit(standing) };
  }
  if (shown?.[0]) contextValue.request.errorCode = String(shown[0].extensions?.code);
  const hasData = data && Object.values(data).some((value) => value !== null);
  const faults = (errors ?? []).map((error) => toAppError(causeOf(error)));
  tellRefusedFields(faults, response.http.headers, contextValue);
  const [first] = faults;
  if (hasData || !first || faults.some(({ code }) => code !== 'unavailable')) return;
  response.http.status = first.status;
  for (const [name, value] of Object.entries(errorHeaders(first))) response.http.headers.set(name, value);
}

/** After the latest of their times, all refused fields are admitted. RFC 9110 §10.2.3 allows the header on any status. */
function tellRefusedFields(faults: readonly AppError[], headers: HeaderMap, { request }: Context): void {
  const refused = faults.filter(({ code }) => code === 'field_rate_limited');
  if (refused.length === 0) return;
  request.hasRefusedField = true;
  const latest = Math.max(...refused.map(({ retryAfterSeconds = 1 }) => retryAfterSeconds));
  headers.set('retry-after', String(latest));
}
