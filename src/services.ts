import { ApiKeyService } from './api-keys/api-key.service.js';
import { KeyUses } from './api-keys/key-uses.js';
import { ProjectKeys } from './api-keys/project-keys.js';
import { AuditLog } from './audit/audit-log.js';
import { UNANNOUNCED } from './data-versions.js';
import type { Database } from './database/database.js';
import { IdempotencyService } from './idempotency/idempotency.service.js';
import { IdGenerator } from './ids.js';
import { PetService } from './pets/pet.service.js';
import { PetStore } from './pets/pet.store.js';
import { PetImportService } from './pets/pet-import.service.js';
import { ProjectService } from './projects/project.service.js';
import { UsageService } from './usage/usage.service.js';

export interface Services {
  ids: IdGenerator;
  audit: AuditLog;
  projects: ProjectService;
  apiKeys: ApiKeyService;
  pets: PetService;
  petImports: PetImportService;
  idempotency: IdempotencyService;
  projectKeys: ProjectKeys;
  keyUses: KeyUses;
  usage: UsageService;
}

/** Every service, made once. The command line uses the same ones. */
export function createServices(db: Database, now: () => number, versions = UNANNOUNCED): Services {
  const ids = new IdGenerator(now);
  const audit = new AuditLog(ids, now);
  const idempotency = new IdempotencyService(db, ids, now);
  const apiKeys = new ApiKeyService(db, ids, audit, now);
  return {
    ids,
    audit,
    projects: new ProjectService(db, ids, audit, now),
    apiKeys,
    pets: new PetService(new PetStore(db, versions), ids, idempotency, now),
    petImports: new PetImportService(db, ids, audit, now),
    idempotency,
    projectKeys: new ProjectKeys(db, apiKeys, idempotency, now),
    keyUses: new KeyUses(db, now),
    usage: new UsageService(db, now),
  };
}
