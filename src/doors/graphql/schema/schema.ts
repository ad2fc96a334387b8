import { type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import { buildSchema, getMetadataStorage } from 'type-graphql';
import type { NounDescription } from '../../../nouns.js';
import type { FieldLimits } from '../execution/field-limits.js';
import { type NestedField, withNestedFields } from '../execution/nested-fields.js';
import { NO_PUB_SUB, subscribeByMethod } from '../execution/subscription-fields.js';
import { ActivityResolver } from './activity.resolver.js';
import { ApiKeyResolver } from './api-key.resolver.js';
import { withNounScopes } from './api-key.type.js';
import { fillDescriptions } from './descriptions.js';
import { DIRECTIVES } from './directives.js';
import { DomainResolver } from './domains/domain.resolver.js';
import { ProjectResolver } from './project.resolver.js';
import { RateLimitResolver } from './rate-limit.resolver.js';
import { UpdatesResolver } from './updates.resolver.js';

const MANAGEMENT = [
  ActivityResolver,
  ApiKeyResolver,
  DomainResolver,
  ProjectResolver,
  RateLimitResolver,
  UpdatesResolver,
] as const;

/** The names of the root fields that are not about a noun: the key's allowance pays for them, the plan for all others. */
export function managementFields(): ReadonlySet<string> {
  const { queries, mutations, subscriptions } = getMetadataStorage();
  const classes: readonly unknown[] = MANAGEMENT;
  const fields = [...queries, ...mutations, ...subscriptions].filter(({ target }) =>
    classes.includes(target),
  );
  return new Set(fields.map(({ schemaName }) => schemaName));
}

export type ResolverClass = new (...parts: never[]) => object;

interface NounFields {
  readonly description: NounDescription;
  readonly resolvers: readonly ResolverClass[];
  /**
   * The name of its data together with that of the nouns that its answers may contain; absent = only its own. Null = one of
   * them has computed fields, so no such answer may be kept.
   */
  readonly group?: string | null | undefined;
}

/**
 * The schema of DOOR 1 with the fields of the nouns. `resolvers` come from the composition root; type-graphql
 * finds each by its class.
 */
export async function createSchema(
  nouns: readonly NounFields[],
  resolvers: readonly object[],
  limits: FieldLimits,
  nested: readonly NestedField[] = [],
): Promise<GraphQLSchema> {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const schema = await buildSchema({
    resolvers: [...MANAGEMENT, ...nouns.flatMap(({ resolvers }) => resolvers)],
    container: { get: (type: unknown) => byClass.get(type) },
    // Services validate values, for both doors.
    validate: false,
    directives: [...DIRECTIVES],
    pubSub: NO_PUB_SUB,
  });
  for (const noun of nouns) nameNoun(schema, noun);
  subscribeByMethod(schema);
  const descriptions = nouns.map(({ description }) => description);
  fillDescriptions(schema, descriptions);
  const whole = withNounScopes(withNestedFields(schema, nested), descriptions);
  return lexicographicSortSchema(limits.enforce(whole));
}

/** Each query of a noun has its plural as the extension `noun`: the response cache asks for the version of its data. */
function nameNoun(schema: GraphQLSchema, { description, resolvers, group }: NounFields): void {
  const fields = schema.getQueryType()?.getFields() ?? {};
  for (const { target, schemaName } of getMetadataStorage().queries) {
    const field = fields[schemaName];
    if (resolvers.some((resolver) => resolver === target) && field)
      field.extensions = {
        ...field.extensions,
        noun: description.plural,
        isComputed: description.computed !== undefined,
        group,
      };
  }
}
