interface FaultFields {
  type: string;
  message: string;
  stack?: string;
  code?: string;
  query?: string;
  cause?: FaultFields;
}

const MAX_CAUSES = 3;

/** The logged form of an error. Drivers attach a statement's values to their errors: client data, which is left out. */
export function faultFields(error: unknown, depth = 0): FaultFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name, message, stack, code, query, cause } = error as Error & Record<string, unknown>;
  return {
    type: error.constructor.name || name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof query === 'string' ? { query } : {}),
    ...(cause instanceof Error && depth < MAX_CAUSES ? { cause: faultFields(cause, depth + 1) } : {}),
  };
}
