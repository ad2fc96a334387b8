import {
  type ApolloServerPlugin,
  type GraphQLRequestContextDidResolveOperation,
  HeaderMap,
} from '@apollo/server';
import { type GraphQLError, type GraphQLSchema, getVariableValues, validate } from 'graphql';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { toAppError } from '../../request/http/error-reply.js';
import type { Context } from './execution/context.js';
import { formatError, refusal } from './execution/errors.js';
import type { KnownDocuments } from './known-documents.js';
import { LONG_READ_FIELDS, type OperationCharges } from './operation-charges.js';
import { countIntrospection } from './operations/introspection-size.js';
import { MAX_INTROSPECTED, sizeProblem } from './operations/measured-operation.js';
import { documentProblem } from './operations/selections.js';

/** Each error repeats the variable: graphql's own limit of 50 errors takes 350 ms for a large variable. */
const MAX_VARIABLE_ERRORS = 3;

type Resolved = GraphQLRequestContextDidResolveOperation<Context>;
type Problems = { code: string; errors: readonly GraphQLError[] };

interface AdmitOperationOptions {
  schema: GraphQLSchema;
  charges: OperationCharges;
  documents: KnownDocuments;
  turns: EventLoopTurns;
}

/**
 * Admits operations in this order: measure, refuse what is too large, charge, validate, store. So a document that nobody
 * paid for costs only its parsing, and validation sees only documents of an allowed size.
 *
 * Apollo's own validation is off: it would run before the charge. D-28.
 */
export function admitOperation({
  schema,
  charges,
  documents,
  turns,
}: AdmitOperationOptions): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      let invalid: Problems | null = null;
      return {
        // Not earlier: a GraphQLError thrown in requestDidStart becomes a 500. All steps are in one plugin, because
        // Apollo runs the hooks of several plugins concurrently.
        async didResolveOperation(context) {
          const { document, operation, request, contextValue, queryHash, source, metrics } = context;
          const isValid = documents.isValid(document);
          const problem = isValid ? null : documentProblem(document);
          if (problem) throw refusal(problem);
          // Without an operation graphql reports the problem after validation. The client's `operationName` names nothing.
          const measured = operation
            ? charges.measure({ document, operation }, request.variables ?? {})
            : null;
          contextValue.operation = measured;
          try {
            await charges.charge(measured, contextValue.request, contextValue.reply);
          } catch (error) {
            throw refusal(toAppError(error));
          }
          if (!isValid) {
            await turns.next(contextValue.caller.projectId);
            const errors = validate(schema, document);
            if (errors.length === 0) documents.storeValid(queryHash, source, document);
            else {
              invalid = { code: 'GRAPHQL_VALIDATION_FAILED', errors };
              metrics.persistedQueryRegister = false;
              return;
            }
          }
          const { errors = [], coerced = {} } = variablesOf(schema, context);
          if (errors.length > 0) invalid = { code: 'BAD_USER_INPUT', errors };
          else measureIntrospection(schema, context, coerced);
        },
        // A hook can throw only one error; validation may find several.
        async responseForOperation() {
          if (!invalid) return null;
          const { code } = invalid;
          const errors = invalid.errors.map((error) =>
            formatError({ ...error.toJSON(), extensions: { code } }, error),
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

/**
 * Reads the variables as execution does, but stops after fewer errors: execution continues to 50, and then fails with an
 * internal error.
 */
function variablesOf(schema: GraphQLSchema, { operation, request: { variables = {} } }: Resolved) {
  const declared = operation?.variableDefinitions ?? [];
  return getVariableValues(schema, declared, variables, { maxErrors: MAX_VARIABLE_ERRORS });
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
