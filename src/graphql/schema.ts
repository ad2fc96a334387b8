import { type GraphQLSchema, lexicographicSortSchema, specifiedDirectives } from 'graphql';
import { buildSchema } from 'type-graphql';
import { ApiKeyResolver } from './api-key.resolver.js';
import { CACHE_CONTROL_DIRECTIVE } from './cache-control.directive.js';
import { DomainResolver } from './domain.resolver.js';
import type { FieldLimits } from './field-limits.js';
import { PetResolver } from './pet.resolver.js';
import { ProjectResolver } from './project.resolver.js';
import { RATE_LIMIT_DIRECTIVE } from './rate-limit.directive.js';
import { RateLimitResolver } from './rate-limit.resolver.js';
import { declareKinds } from './root-fields.js';
import { requireStatements } from './statements.js';

/** By what their root fields work on. A new resolver stands in one of them, or the process does not start. */
const RESOLVERS = {
  pets: [PetResolver],
  management: [ApiKeyResolver, DomainResolver, ProjectResolver, RateLimitResolver],
} as const;

/** The schema of DOOR 1. `resolvers` come from the composition root: type-graphql finds each by its class. */
export async function createSchema(
  resolvers: readonly object[],
  limits: FieldLimits,
): Promise<GraphQLSchema> {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const schema = await buildSchema({
    resolvers: [...RESOLVERS.pets, ...RESOLVERS.management],
    container: { get: (type: unknown) => byClass.get(type) },
    // Services check values, for both doors alike.
    validate: false,
    directives: [...specifiedDirectives, RATE_LIMIT_DIRECTIVE, CACHE_CONTROL_DIRECTIVE],
  });
  requireStatements(schema);
  return lexicographicSortSchema(limits.enforce(declareKinds(schema, RESOLVERS)));
}
