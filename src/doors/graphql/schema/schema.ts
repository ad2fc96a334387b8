import { type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import { buildSchema, getMetadataStorage } from 'type-graphql';
import type { FieldLimits } from '../execution/field-limits.js';
import { ActivityResolver } from './activity.resolver.js';
import { ApiKeyResolver } from './api-key.resolver.js';
import { DIRECTIVES } from './directives.js';
import { DomainResolver } from './domains/domain.resolver.js';
import { ProjectResolver } from './project.resolver.js';
import { RateLimitResolver } from './rate-limit.resolver.js';

const MANAGEMENT = [
  ActivityResolver,
  ApiKeyResolver,
  DomainResolver,
  ProjectResolver,
  RateLimitResolver,
] as const;

/** The names of the root fields that are not about a noun: the key's allowance pays for them, the plan for all others. */
export function managementFields(): ReadonlySet<string> {
  const { queries, mutations } = getMetadataStorage();
  const classes: readonly unknown[] = MANAGEMENT;
  const fields = [...queries, ...mutations].filter(({ target }) => classes.includes(target));
  return new Set(fields.map(({ schemaName }) => schemaName));
}

export type ResolverClass = new (...parts: never[]) => object;

/**
 * The schema of DOOR 1 with the resolver classes of the nouns. `resolvers` come from the composition root; type-graphql
 * finds each by its class.
 */
export async function createSchema(
  nouns: readonly ResolverClass[],
  resolvers: readonly object[],
  limits: FieldLimits,
): Promise<GraphQLSchema> {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const schema = await buildSchema({
    resolvers: [...MANAGEMENT, ...nouns],
    container: { get: (type: unknown) => byClass.get(type) },
    // Services validate values, for both doors.
    validate: false,
    directives: [...DIRECTIVES],
  });
  return lexicographicSortSchema(limits.enforce(schema));
}
