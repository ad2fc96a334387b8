/** For types whose fields are properties: type-graphql's own resolvers would make a promise for each field of each object. */
export const PLAIN = { simpleResolvers: true } as const;
