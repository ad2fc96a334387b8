import { NOUN_WORDS } from '../../../gateway.js';

interface Meaning {
  /** The event, for the owner of the project. */
  meaning: string;
  /** The next step of the owner or of the client's developer. */
  remedy: string;
}

const CODES: Record<string, Meaning> = {
  INVALID_REQUEST: {
    meaning: 'The body or a parameter is invalid. The answer named each field in errors.',
    remedy: 'Correct the named fields in the client. The same request fails again.',
  },
  UNAUTHORIZED: {
    meaning: 'The API key is missing, malformed, unknown, revoked or expired.',
    remedy: 'Give the client a valid key. API keys shows which ones are valid.',
  },
  PLAN_REQUIRED: {
    meaning: 'The feature needs a higher plan.',
    remedy: 'Ask the operator of the gateway for the plan PRO or above.',
  },
  FORBIDDEN: {
    meaning: 'The API key lacks the scope that the operation needs.',
    remedy: 'Create a key with that scope, and give it to this client only.',
  },
  NOT_FOUND: {
    meaning: 'The project has no resource with this identifier or path.',
    remedy: 'Check the identifier. The resource may have been deleted, or belong to another project.',
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The path does not support the method.',
    remedy: 'Use a method that the answer names in Allow.',
  },
  NOT_ACCEPTABLE: {
    meaning: 'The Accept header of the client excludes the type of the answer.',
    remedy: 'Send Accept: application/json, and for a subscription Accept: text/event-stream.',
  },
  CONFLICT: {
    meaning:
      'The Idempotency-Key is in use or its answer is shown only once, the name is taken, there are too many, or the change log is off.',
    remedy: 'Read the message of the answer. If the first request still runs, repeat it a little later.',
  },
  NOT_PUBLISHED: {
    meaning: 'A custom domain was requested before the first deploy of the project.',
    remedy: 'Publish the project once, then repeat the request.',
  },
  GONE: {
    meaning: 'The operation was removed at its sunset, or the change log does not reach back to the cursor.',
    remedy:
      'Use the operation that the header Link names as successor. With a cursor: list again, then follow from there.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The body is larger than 100 KB.',
    remedy: 'Split the request into smaller ones.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The body is not application/json in UTF-8.',
    remedy: 'Send Content-Type: application/json, and encode the body in UTF-8.',
  },
  MISDIRECTED: {
    meaning: 'The host of the request is not served here, or belongs to another project.',
    remedy: 'Send the request to a base address of this project; the overview lists them.',
  },
  IDEMPOTENCY_MISMATCH: {
    meaning: 'The Idempotency-Key was used with another payload in the last 24 hours.',
    remedy: 'Make a new Idempotency-Key for each new request, and keep it only for its repetitions.',
  },
  RATE_LIMITED_MINUTE: {
    meaning: `A limit of this minute was spent: the quota of the plan, or the key’s operations besides ${NOUN_WORDS}.`,
    remedy:
      'Let the client wait for Retry-After. If it happens often, spread the requests or take a higher plan.',
  },
  RATE_LIMITED_DAY: {
    meaning: 'The quota of the UTC day was spent.',
    remedy: 'Find the key that spent it in the usage by key. A higher plan has a larger quota.',
  },
  KEY_BANNED: {
    meaning: 'The key is temporarily banned: it repeated requests between a 429 and its Retry-After.',
    remedy: 'Let the client wait for Retry-After. The ban ends automatically; each new one is longer.',
  },
  FIELD_RATE_LIMITED: {
    meaning: 'A GraphQL field with its own limit was used too often. The other fields were answered.',
    remedy: 'Let the client wait for Retry-After before it uses this field again.',
  },
  TOO_MANY_STREAMS: {
    meaning: 'The project has as many open streams as its plan allows.',
    remedy: 'Share one stream between the parts of the client, or take a higher plan.',
  },
  INTERNAL: {
    meaning: 'An error occurred in the gateway. The request was not at fault.',
    remedy: 'Repeat it. If it fails again, send the request id to the operator of the gateway.',
  },
  UNAVAILABLE: {
    meaning: 'The database of the gateway did not respond.',
    remedy: 'Repeat the request after Retry-After, with the same Idempotency-Key if it writes.',
  },
  GRAPHQL_PARSE_FAILED: {
    meaning: 'The GraphQL document has a syntax error.',
    remedy: 'Correct the document. GraphiQL marks the place.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    meaning: 'The GraphQL document does not fit the schema.',
    remedy: 'Compare its fields and arguments with the schema. GraphiQL marks the place.',
  },
  BAD_USER_INPUT: {
    meaning: 'A variable or argument of the GraphQL request has a wrong type.',
    remedy: 'Compare the variables with the types that the document declares.',
  },
  BAD_REQUEST: {
    meaning: 'The HTTP request is not a valid GraphQL request.',
    remedy: 'Send a POST with a JSON body that has a query.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    meaning: 'The gateway does not know the persisted query yet.',
    remedy: 'Nothing to do: clients with persisted queries send the whole document next.',
  },
};

const ANSWERED: Meaning = { meaning: 'The request was answered without an error.', remedy: '' };
const OF_CLIENT: Meaning = {
  meaning: 'The gateway refused the request as it was sent.',
  remedy: 'Read the message of the answer, and correct the request.',
};
const OF_GATEWAY: Meaning = {
  meaning: 'The gateway could not answer the request.',
  remedy: 'Repeat it. If it fails again, send the request id to the operator of the gateway.',
};

/** The meaning of the outcome of a request, and its remedy. */
export function codeInWords({ code, status }: { code: string | null; status: number }): Meaning {
  const known = code === null ? undefined : CODES[code];
  if (known) return known;
  if (code === null && status < 400) return ANSWERED;
  return status < 500 ? OF_CLIENT : OF_GATEWAY;
}
