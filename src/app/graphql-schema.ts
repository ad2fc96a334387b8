import type { GraphQLSchema } from 'graphql';
import { FieldLimits } from '../doors/graphql/execution/field-limits.js';
import { ActivityResolver } from '../doors/graphql/schema/activity.resolver.js';
import { ApiKeyResolver } from '../doors/graphql/schema/api-key.resolver.js';
import { DomainResolver } from '../doors/graphql/schema/domains/domain.resolver.js';
import { ProjectResolver } from '../doors/graphql/schema/project.resolver.js';
import { RateLimitResolver } from '../doors/graphql/schema/rate-limit.resolver.js';
import { createSchema, type ResolverClass } from '../doors/graphql/schema/schema.js';
import { UpdatesResolver } from '../doors/graphql/schema/updates.resolver.js';
import { groupsOf, relationsOf } from '../noun/definition/relations.js';
import { relatedFields } from '../noun/graphql/related-fields.js';
import type { NounDoors } from '../noun/noun.js';
import { type Addresses, domainTargetOf } from './addresses.js';
import type { AppOptions, Parts } from './parts.js';

/** The schema of the GraphQL door with its resolvers. `addresses` are where clients find the gateway. */
export function openSchema(
  options: AppOptions,
  { services, customDomains, hostAddresses, limiter, bans, signals }: Parts,
  { nouns, addresses }: { nouns: readonly NounDoors[]; addresses: () => Addresses },
): Promise<GraphQLSchema> {
  const fieldLimits = new FieldLimits(limiter);
  const descriptions = options.gateway.nouns.map(({ description }) => description);
  const groups = groupsOf(descriptions);
  const computing = descriptions.filter(({ computed }) => computed).map(({ plural }) => groups.get(plural));
  const groupOf = (plural: string) => {
    const group = groups.get(plural);
    return group !== undefined && computing.includes(group) ? null : group;
  };
  const nested = new Map(
    descriptions.flatMap(({ plural }, at) => {
      const records = nouns[at]?.nested;
      return records ? [[plural, records]] : [];
    }),
  );
  return createSchema(
    options.gateway.nouns.map(({ description }, at) => ({
      description,
      resolvers: (nouns[at]?.resolvers ?? []).map((resolver) => resolver.constructor as ResolverClass),
      group: groupOf(description.plural),
    })),
    [
      new DomainResolver(
        async () => (await customDomains.load()).ofProject,
        options.config.httpsPort !== 0,
        options.now,
      ),
      ...nouns.flatMap(({ resolvers }) => resolvers),
      new RateLimitResolver(fieldLimits),
      new UpdatesResolver(signals),
      new ActivityResolver(services.projectAudit, {
        requests: services.projectRequests,
        isOn: options.config.isRequestLogOn,
      }),
      new ApiKeyResolver(services.apiKeys, services.keyUses, limiter, bans),
      new ProjectResolver(services.projects, services.projectUsage, {
        base: () => addresses().base,
        domainTarget: domainTargetOf(options.config),
        ofProject: (slug) => addresses().ofProject(slug),
        ofPrimary: (projectId) => {
          const primary = hostAddresses.primaryOf(projectId);
          return primary && hostAddresses.originOf(primary.hostname);
        },
      }),
    ],
    fieldLimits,
    relatedFields(relationsOf(descriptions), nested),
  );
}
