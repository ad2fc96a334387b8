import { API_KEYS } from './api-keys.js';
import { CACHE } from './cache.js';
import { CLIENT } from './client.js';
import { CLUSTERS } from './clusters.js';
import { DOMAINS } from './domains.js';
import { DURABILITY } from './durability.js';
import { GRAPHQL_COST } from './graphql-cost.js';
import { IDEMPOTENCY } from './idempotency.js';
import { LIMITS } from './limits.js';
import type { Mutant } from './mutant.js';
import { RECORDS } from './records.js';
import { WRITES } from './writes.js';

/** All mutants by area. An id names one mutant. */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  'api-keys': API_KEYS,
  cache: CACHE,
  client: CLIENT,
  clusters: CLUSTERS,
  domains: DOMAINS,
  durability: DURABILITY,
  'graphql-cost': GRAPHQL_COST,
  idempotency: IDEMPOTENCY,
  limits: LIMITS,
  records: RECORDS,
  writes: WRITES,
};
