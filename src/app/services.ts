import { ApiKeyService } from '../api-keys/api-key.service.js';
import { KeyNames } from '../api-keys/key-names.js';
import { KeyUses } from '../api-keys/key-uses.js';
import { ProjectKeys } from '../api-keys/project-keys.js';
import { AuditLog, AuditRetention } from '../audit/audit-log.js';
import { ProjectAudit } from '../audit/project-audit.js';
import type { Database } from '../database/database.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { UNANNOUNCED } from '../kernel/data-versions.js';
import { IdGenerator } from '../kernel/ids.js';
import { PetExportService } from '../pets/files/pet-export.service.js';
import { PetImportService } from '../pets/files/pet-import.service.js';
import { PetService } from '../pets/pet.service.js';
import { PetStore } from '../pets/pet.store.js';
import { OwnProject, ProjectService } from '../projects/project.service.js';
import { ProjectRequests } from '../request-log/project-requests.js';
import { RequestRetention } from '../request-log/request-retention.js';
import { RequestWriter } from '../request-log/request-writer.js';
import { ProjectUsage } from '../usage/project-usage.js';
import { UsageService } from '../usage/usage.service.js';
import { UsageStore } from '../usage/usage.store.js';

export type Services = ReturnType<typeof createServices>;

/** Creates every service once. The command line uses the same services. */
export function createServices(
  db: Database,
  now: () => number,
  { versions = UNANNOUNCED, isRequestLogOn = true } = {},
) {
  const ids = new IdGenerator(now);
  const audit = new AuditLog(ids, now);
  const idempotency = new IdempotencyService(db, ids, now);
  const projects = new ProjectService(db, ids, audit, now);
  const apiKeys = new ApiKeyService(db, ids, audit, now);
  const keyNames = new KeyNames(db);
  const requestRetention = new RequestRetention(db, now);
  const usage = new UsageService(new UsageStore(db, now), now);
  return {
    ids,
    audit,
    auditRetention: new AuditRetention(db, now),
    projectAudit: new ProjectAudit(db, keyNames),
    projects,
    ownProject: new OwnProject(projects, idempotency),
    apiKeys,
    pets: new PetService(new PetStore(db, versions), ids, idempotency, now),
    petImports: new PetImportService(db, ids, audit, now),
    petExports: new PetExportService(db),
    idempotency,
    projectKeys: new ProjectKeys(db, apiKeys, idempotency, now),
    keyUses: new KeyUses(db, now),
    usage,
    projectUsage: new ProjectUsage(usage, keyNames, now),
    requestWriter: new RequestWriter(db, now, requestRetention, isRequestLogOn),
    requestRetention,
    projectRequests: new ProjectRequests(db, keyNames, now),
  };
}
