import { AcmeAccount } from '../domains/certificates/store/acme-account.entity.js';
import { AcmeOrder } from '../domains/certificates/store/acme-order.entity.js';
import { Certificate } from '../domains/certificates/store/certificate.store.js';
import { Domain } from '../domains/store/domain.entity.js';
import { DomainEvent } from '../domains/store/timeline.js';
import { ChangeSequence } from '../ground/database/change-sequence.entity.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import { Projects1780000000000 } from '../ground/migrations/1780000000000-projects.js';
import { RateLimits1780000002000 } from '../ground/migrations/1780000002000-rate-limits.js';
import { Domains1780000003000 } from '../ground/migrations/1780000003000-domains.js';
import { Usage1780000004000 } from '../ground/migrations/1780000004000-usage.js';
import { Imports1780000005000 } from '../ground/migrations/1780000005000-imports.js';
import { Changes1780000006000 } from '../ground/migrations/1780000006000-changes.js';
import { Strikes1780000007000 } from '../ground/migrations/1780000007000-strikes.js';
import { KeyScopes1780000008000 } from '../ground/migrations/1780000008000-key-scopes.js';
import { ChangeLogRow, ChangeRow } from '../ground/records/change-log.entity.js';
import { RateCounter } from '../request/rate-limit/memory/counter-store.js';
import { ApiKey } from '../tenants/api-keys/api-key.entity.js';
import { AuditEvent } from '../tenants/audit/audit-event.entity.js';
import { FileImport, ImportedContent } from '../tenants/files/import.entity.js';
import { IdempotencyKey } from '../tenants/idempotency/idempotency-key.entity.js';
import { Project } from '../tenants/projects/project.entity.js';
import { LoggedRequest } from '../tenants/request-log/logged-request.entity.js';
import { UsageCount } from '../tenants/usage/usage-count.entity.js';
import type { LoadedGateway } from './gateway.js';

/** The tables of a gateway. Spec: the database's schema is what its migrations make of it. */
export function databaseSchema({
  nouns,
  migrations,
}: Pick<LoadedGateway, 'nouns' | 'migrations'>): DatabaseSchema {
  return {
    entities: [
      Project,
      ApiKey,
      ...nouns.flatMap(({ entities }) => entities),
      FileImport,
      ImportedContent,
      IdempotencyKey,
      AuditEvent,
      RateCounter,
      ChangeSequence,
      ChangeLogRow,
      ChangeRow,
      Domain,
      DomainEvent,
      Certificate,
      AcmeAccount,
      AcmeOrder,
      UsageCount,
      LoggedRequest,
    ],
    migrations: oldestFirst([
      Projects1780000000000,
      ...nouns.flatMap((noun) => noun.migrations),
      ...migrations,
      RateLimits1780000002000,
      Domains1780000003000,
      Usage1780000004000,
      Imports1780000005000,
      Changes1780000006000,
      Strikes1780000007000,
      KeyScopes1780000008000,
    ]),
    definitions: nouns.flatMap(({ definitions = [] }) => definitions),
  };
}

/** A migration's name ends with its time. */
function oldestFirst(migrations: DatabaseSchema['migrations']): DatabaseSchema['migrations'] {
  const timeOf = ({ name }: { name: string }) => Number(name.slice(-13));
  return migrations.toSorted((a, b) => timeOf(a) - timeOf(b));
}
