declare module 'fastify' {
  interface FastifyRequest {
    /** REST's operation id, or the name of a GraphQL operation; null = not known. */
    operation: string | null;
    /** `query` or `mutation`; null = the request has no known GraphQL operation. */
    operationType: string | null;
    /** The code of the answer's first error, as the client reads it; null = none. */
    errorCode: string | null;
  }
}

/** The fields that the doors set on a request, as they are before the door. */
export const UNANSWERED = { operation: null, operationType: null, errorCode: null };
