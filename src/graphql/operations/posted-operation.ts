/** The parameters of a POST in the form that nearly all clients send. GraphQL over HTTP. */
export interface PostedOperation {
  readonly query: string | null;
  /** The SHA-256 of a persisted query, used if there is no query. Apollo's automatic persisted queries. */
  readonly queryHash: string;
  readonly operationName: string | null;
  readonly variables: Record<string, unknown>;
}

const NAMES: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

/** Null for any other form: Apollo reads those. */
export function postedOperationIn(body: unknown): PostedOperation | null {
  if (!isRecord(body) || !Object.keys(body).every((name) => NAMES.has(name))) return null;
  const { query = null, operationName = null, variables, extensions } = body;
  if (query !== null && typeof query !== 'string') return null;
  if (operationName !== null && typeof operationName !== 'string') return null;
  if (variables != null && !isRecord(variables)) return null;
  const queryHash = query === null ? hashIn(extensions) : '';
  // A query with extensions needs more than a response.
  if (queryHash === null || (query !== null && extensions != null)) return null;
  return { query, queryHash, operationName, variables: variables ?? {} };
}

function hashIn(extensions: unknown): string | null {
  if (!isRecord(extensions) || Object.keys(extensions).length !== 1) return null;
  const { persistedQuery } = extensions;
  if (!isRecord(persistedQuery) || persistedQuery.version !== 1) return null;
  return typeof persistedQuery.sha256Hash === 'string' ? persistedQuery.sha256Hash : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
