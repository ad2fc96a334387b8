import { DomainsOnUse } from '../domains/domains-on-use.js';
import type { Database } from '../ground/database/database.js';
import { IdMark } from '../ground/database/drawn-id.js';
import { Retention } from '../ground/database/retention.js';
import type { Capability } from '../ground/kernel/capability.js';
import { together, UNANNOUNCED } from '../ground/kernel/data-versions.js';
import { IdGenerator } from '../ground/kernel/ids.js';
import { ChangeFeeds } from '../ground/records/change-feed.js';
import { ChangeLog } from '../ground/records/change-log.js';
import { ProjectSignals } from '../ground/records/project-signals.js';
import { groupsOf, relationsOf } from '../noun/definition/relations.js';
import { relate } from '../noun/records/references.js';
import { CounterStore } from '../request/rate-limit/memory/counter-store.js';
import { ApiKeyService } from '../tenants/api-keys/api-key.service.js';
import { KeyNames } from '../tenants/api-keys/key-names.js';
import { KeyUses } from '../tenants/api-keys/key-uses.js';
import { AuditEvent } from '../tenants/audit/audit-event.entity.js';
import { AUDIT_RETENTION, AuditLog } from '../tenants/audit/audit-log.js';
import { ProjectAudit } from '../tenants/audit/project-audit.js';
import { ExportService } from '../tenants/files/export.service.js';
import { ImportService } from '../tenants/files/import.service.js';
import { IdempotencyService } from '../tenants/idempotency/idempotency.service.js';
import { type FollowPlan, ProjectService } from '../tenants/projects/project.service.js';
import { LoggedRequest, REQUEST_RETENTION } from '../tenants/request-log/logged-request.entity.js';
import { ProjectRequests } from '../tenants/request-log/project-requests.js';
import { RequestWriter } from '../tenants/request-log/request-writer.js';
import { ProjectUsage } from '../tenants/usage/project-usage.js';
import { UsageService } from '../tenants/usage/usage.service.js';
import type { LoadedGateway } from './gateway.js';

export type Services = ReturnType<typeof createServices>;

/** The capabilities with tables. D-267. */
export const CAPABILITIES = [
  ProjectService,
  ApiKeyService,
  ImportService,
  IdempotencyService,
  AuditLog,
  CounterStore,
  IdMark,
  ChangeLog,
  DomainsOnUse,
  UsageService,
  RequestWriter,
];

/** Creates every service once. The command line uses the same services. */
export function createServices(
  { nouns: served, scopes }: Pick<LoadedGateway, 'nouns' | 'scopes'>,
  db: Database,
  now: () => number,
  { versions = UNANNOUNCED, signals = new ProjectSignals(), isRequestLogOn = true } = {},
) {
  const ids = new IdGenerator(now);
  const idMark = new IdMark(db, ids);
  const audit = new AuditLog(ids, now);
  const idempotency = new IdempotencyService(db, now);
  const changes = new ChangeFeeds(new ChangeLog(db, signals, now));
  const followPlan: FollowPlan = async (manager, project) => {
    const suspension = await import('../domains/lifecycle/domain-suspension.js');
    await suspension.followPlan({ db, ids }, manager, project, now());
  };
  const projects = new ProjectService(db, ids, { audit, idempotency, signals, followPlan, scopes }, now);
  const apiKeys = new ApiKeyService(db, ids, { audit, idempotency, signals }, scopes, now);
  const descriptions = served.map(({ description }) => description);
  const groups = groupsOf(descriptions);
  const versionsOf = (plural: string) => {
    const group = groups.get(plural);
    return group === undefined ? versions.of(plural) : together(versions.of(plural), versions.of(group));
  };
  const nouns = served.map((noun) =>
    noun.open({ db, ids, idempotency, versions: versionsOf(noun.description.plural), changes, now }),
  );
  relate(
    relationsOf(descriptions),
    new Map(nouns.flatMap(({ files, related }) => (related ? [[files.description.plural, related]] : []))),
  );
  const files = new Map(
    nouns.map((noun) => {
      const imports = new ImportService(db, noun.files, { ids, audit, changes }, now);
      return [noun.files.description.plural, { imports, exports: new ExportService(db, noun.files) }];
    }),
  );
  const keyNames = new KeyNames(db);
  const keyUses = new KeyUses(db, now);
  const usage = new UsageService(db, now);
  const requestWriter = new RequestWriter(db, now, isRequestLogOn, (projectId) =>
    signals.send(projectId, 'requests'),
  );
  const capabilities: readonly Capability[] = [
    usage,
    requestWriter,
    idMark,
    keyUses,
    idempotency,
    changes.log,
    new Retention(db, AuditEvent, AUDIT_RETENTION, now),
    new Retention(db, LoggedRequest, REQUEST_RETENTION, now),
    ...nouns.flatMap((noun) => noun.capabilities ?? []),
  ];
  return {
    capabilities,
    ids,
    /** Call it before the first id is drawn: the ids of earlier processes may be ahead of the clock. */
    startIds: async () => {
      const largest = await idMark.read();
      ids.startAbove(largest);
      requestWriter.startAbove(largest);
    },
    signals,
    audit,
    projectAudit: new ProjectAudit(db, keyNames),
    projects,
    apiKeys,
    nouns,
    filesOf: (plural: string) => files.get(plural) ?? refuseUnknownNoun(plural),
    idempotency,
    changes,
    keyUses,
    usage,
    projectUsage: new ProjectUsage(usage, keyNames, now),
    requestWriter,
    projectRequests: new ProjectRequests(db, keyNames, { writer: requestWriter, usage }, now),
  };
}

function refuseUnknownNoun(plural: string): never {
  throw new Error(`There is no noun ${plural}.`);
}
