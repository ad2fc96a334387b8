import type { Noun } from '../noun/noun.js';

/** Whether the platform itself has a type, a field, a path, a page, a command or a table of this name. */
export function isReserved(name: string): boolean {
  return RESERVED.has(sameName(name));
}

/** The form in which `rate_limit`, `rateLimit` and `RateLimit` are one name. */
export function sameName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

const TYPES = [
  'ApiKey ApiKeyScope AuditDetail AuditEvent AuditEventConnection AuditEventFilter Ban Boolean CacheControlScope',
  'Certificate ChangeKind CreatedApiKey DateTime Diagnosis DiagnosisActor DiagnosisCode DiagnosisSeverity DnsRecord',
  'DnsRecordType Domain DomainAction DomainEffect DomainEvent DomainRedirect DomainRedirectInput DomainStatus Domains',
  'DomainsInput Door Error Evidence FieldRateLimit FieldRateLimitWindow Float ID Int Mutation NewApiKey PageInfo Plan',
  'Project Query RateLimit RateLimitWindow RemovedDomain Request RequestConnection RequestFilter RequestOutcome',
  'StrikingClient String Subscription UpdateKind Usage UsageCount UsageDimension UsageLatency UsagePoint UsageSeries',
  'UsageWindow',
];
const ROOT_FIELDS = [
  'addDomain apiKey apiKeys createApiKey domain domains project publishProject rateLimit recordImport removeDomain',
  'renameApiKey reverifyDomain revokeApiKey rollApiKey setDomains unbanApiKey updates verifyDomain',
];
/** Below `/v1`. */
const PATHS = ['docs', 'openapi.json', 'postman.json', 'rate_limit'];
/** Of the dashboard; the audit log and scopes say `key` and `keys`. */
const PAGES = ['activity key keys requests settings'];
const COMMANDS = ['backup copy dev doctor domains help keys migrate new projects restore start types'];
const TABLES = [
  'acme_accounts acme_orders api_keys audit_events certificates change_logs change_sequences changes domain_events',
  'domains idempotency_keys imported_contents imports logged_requests migration_lock migrations projects rate_counters',
  'usage_by_dimension',
];

const RESERVED = new Set(
  [TYPES, ROOT_FIELDS, PATHS, PAGES, COMMANDS, TABLES]
    .flatMap((names) => names.join(' ').split(' '))
    .map(sameName),
);

/** The beginnings of the tables that a noun has for its options. */
const OPTIONS = { deleted: 'softDelete', committed: 'afterCommit', has: "filter: 'has'" };

/** Throws an `Error` if two nouns of a gateway, or a noun and the platform, would have one table. */
export function requireTables(nouns: readonly Noun[]): void {
  const tables = nouns.flatMap((noun) =>
    (noun.definitions ?? []).map(({ name = '' }, at) => {
      const { singular } = noun.description;
      const option =
        Object.entries(OPTIONS).find(([start]) => name.startsWith(`${start}_`))?.[1] ?? 'an option';
      return { name, singular, owner: at === 0 ? singular : `${singular} with ${option}` };
    }),
  );
  const ofPlatform = TABLES.join(' ').split(' ');
  const owners = new Map(ofPlatform.map((name) => [name, 'the platform']));
  for (const { name, singular, owner } of tables) {
    const other = owners.get(name);
    if (other)
      throw new Error(
        `The noun ${singular} can't be served: the table ${name} is that of ${owner} and of ${other}. Give one another plural.`,
      );
    owners.set(name, owner);
  }
}
