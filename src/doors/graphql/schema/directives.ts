import { buildASTSchema, type GraphQLDirective, parse } from 'graphql';

/** `@cacheControl` is defined as in Apollo, so that its tools understand the printed schema. */
const DEFINITIONS = `
  """
  The field depends only on its arguments and the data of the project: its response may be cached until that data changes.
  """
  directive @cacheControl(
    "Seconds for which a cached response may be used unchecked: 0, as each use is checked against the data."
    maxAge: Int
    "The clients that may share it."
    scope: CacheControlScope
    "Whether the parent's \`maxAge\` applies."
    inheritMaxAge: Boolean
  ) on FIELD_DEFINITION

  "The clients that may share a cached response."
  enum CacheControlScope {
    "All clients."
    PUBLIC
    "Clients with the same rights in the same project."
    PRIVATE
  }

  "How often a project may use the field, in addition to the quota of its plan."
  directive @rateLimit(
    "Uses per window."
    max: Int!
    "Whether each API key has its own count, so that a leaked key does not block the others."
    perKey: Boolean = false
    "The UTC minute, \`1m\`, or the UTC day, \`1d\`."
    window: String!
  ) on FIELD_DEFINITION
`;

/** The directives of the schema, those of GraphQL itself included. */
export const DIRECTIVES: readonly GraphQLDirective[] = buildASTSchema(parse(DEFINITIONS)).getDirectives();
