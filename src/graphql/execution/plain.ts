/**
 * For types whose fields are plain properties: type-graphql's own resolvers would create a promise for each field of each
 * object.
 */
export const PLAIN = { simpleResolvers: true } as const;
