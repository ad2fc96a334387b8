import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors';

/** What the gateway says of a request that it refused. */
export interface Refusal {
  code: string;
  message: string;
  retryAfterSeconds?: number;
  /** Of a limit beside the plan's quota; undefined = the quota or a ban refused the request. */
  limit?: number;
  errors?: readonly { field: string; message: string }[];
}

/** The refusal inside an error of Apollo Client; undefined = the gateway did not answer in its own form. */
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
    // A proxy's page instead of the gateway's answer.
    return undefined;
  }
}
