import {
  type ApolloServerPlugin,
  type GraphQLRequestContextDidResolveOperation,
  HeaderMap,
} from '@apollo/server';
import { type GraphQLError, type GraphQLSchema, validate } from 'graphql';
import { ONE_UNIT } from '../admission/cost.js';
import { toAppError } from '../http/to-app-error.js';
import type { Context } from './context.js';
import { documentProblem } from './document-limits.js';
import { formatError, refusal } from './errors.js';
import type { KnownDocuments } from './known-documents.js';
import { costOf, unitOf } from './operation-cost.js';
import { sizeProblem } from './operation-limits.js';
import { measureOperation, pageSizesOf } from './operation-size.js';
import { fieldsOfKind } from './root-fields.js';
import { countStatements } from './statements.js';
import type { Turns } from './turns.js';

/** A read of fewer takes about a millisecond, and waits for nobody. */
const LONG_READ_FIELDS = 100;

type Resolved = GraphQLRequestContextDidResolveOperation<Context>;

/**
 * Admits operations in this order: measure, refuse what is too large, charge, validate, keep. So the work on a document
 * that nobody paid for is its parsing alone, and validation sees only documents of an allowed size.
 *
 * Apollo validates nothing by itself: it would do so before the operation could be charged.
 */
export function admitOperation(
  schema: GraphQLSchema,
  documents: KnownDocuments,
  turns: Turns,
): ApolloServerPlugin<Context> {
  const charge = charging(schema);
  return {
    async requestDidStart() {
      let invalid: readonly GraphQLError[] = [];
      return {
        // Not earlier: a GraphQLError thrown in requestDidStart becomes a 500. And in one place, as Apollo runs the hooks
        // of several plugins at the same time.
        async didResolveOperation(context) {
          const { document, queryHash, source, metrics } = context;
          const isValid = documents.isValid(document);
          const problem = isValid ? null : documentProblem(document);
          if (problem) throw refusal(problem);
          try {
            await charge(context);
          } catch (error) {
            throw refusal(toAppError(error));
          }
          if (isValid) return;
          await turns.next(context.contextValue.caller.projectId);
          invalid = validate(schema, document);
          if (invalid.length === 0) documents.keep(queryHash, source, document);
          else metrics.persistedQueryRegister = false;
        },
        // A hook can throw one error; validation finds several.
        async responseForOperation() {
          if (invalid.length === 0) return null;
          const errors = invalid.map((error) =>
            formatError({ ...error.toJSON(), extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }, error),
          );
          return {
            http: { status: 400, headers: new HeaderMap() },
            body: { kind: 'single', singleResult: { errors } },
          };
        },
      };
    },
  };
}

function charging(schema: GraphQLSchema) {
  const pages = pageSizesOf(schema);
  const management = fieldsOfKind(schema, 'management');
  return async ({ document, operation, request, contextValue }: Resolved): Promise<void> => {
    // Which operation is meant can't be told: graphql says so, after validation.
    if (!operation) return contextValue.charge(ONE_UNIT);
    const size = measureOperation(document, operation, request.variables ?? {}, pages);
    const cost = costOf(size.rootFieldNames, management);
    const hasIdempotencyKey = contextValue.idempotencyKey !== null;
    const problem =
      sizeProblem(size) ??
      sizeProblem({ statements: countStatements(schema, document, operation, { hasIdempotencyKey }) });
    if (problem) {
      await contextValue.charge(unitOf(cost));
      throw problem;
    }
    contextValue.rootFieldCount = size.rootFields;
    contextValue.isIntrospection = cost.schema > 0;
    const isRead = operation.operation === 'query';
    contextValue.isLong = isRead && cost.management > 0 && size.cost > LONG_READ_FIELDS;
    await contextValue.charge(cost);
  };
}
