// Apart from the code that keeps them: the GraphQL schema needs them in every process.

/** Of a project. */
export const MAX_DOMAINS = 100;
/** Of a configuration. */
export const MAX_REDIRECTS = 100;
/** For a domain: a CNAME or ALIAS, and a TXT. */
export const MAX_RECORDS_TO_CREATE = 2;
