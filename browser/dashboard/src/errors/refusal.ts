import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors';

/** The gateway's details of a refused request. */
export interface Refusal {
  code: string;
  message: string;
  retryAfterSeconds?: number;
  /** The number of a limit other than the plan's quota; undefined = the quota or a ban refused the request. */
  limit?: number;
  errors?: readonly { field: string; message: string }[];
}

/** The refusal inside an error of Apollo Client; undefined = the response is not in the gateway's format. */
export function refusalOf(error: unknown): Refusal | undefined {
  const first = CombinedGraphQLErrors.is(error)
    ? error.errors[0]
    : ServerError.is(error)
      ? parsed(error)
      : undefined;
  const code = first?.extensions?.code;
  if (!first || typeof code !== 'string') return undefined;
  return { ...(first.extensions as object), code, message: first.message };
}

function parsed({
  bodyText,
}: ServerError): { message: string; extensions?: Record<string, unknown> } | undefined {
  try {
    return JSON.parse(bodyText).errors?.[0];
  } catch {
    // A proxy's page instead of the gateway's response.
    return undefined;
  }
}
