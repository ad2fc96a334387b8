import { ApiKey } from '../api-keys/api-key.entity.js';
import { AuditEvent } from '../audit/audit-event.entity.js';
import { AcmeChallenge } from '../certificates/challenges/acme-challenge.entity.js';
import { AcmeAccount } from '../certificates/orders/acme-account.entity.js';
import { AcmeOrder } from '../certificates/orders/acme-order.entity.js';
import { Certificate } from '../certificates/store/certificate.entity.js';
import { ChangeSequence } from '../database/change-sequence.entity.js';
import type { DatabaseSchema } from '../database/data-source.js';
import { Domain } from '../domains/store/domain.entity.js';
import { DomainEvent } from '../domains/store/domain-event.entity.js';
import { IdempotencyKey } from '../idempotency/idempotency-key.entity.js';
import { Initial1770000000000 } from '../migrations/1770000000000-initial.js';
import { PetImports1770000001000 } from '../migrations/1770000001000-pet-imports.js';
import { RateLimits1770000002000 } from '../migrations/1770000002000-rate-limits.js';
import { Domains1770000003000 } from '../migrations/1770000003000-domains.js';
import { UsageAndKeys1770000004000 } from '../migrations/1770000004000-usage-and-keys.js';
import { OrderTurn1770000005000 } from '../migrations/1770000005000-order-turn.js';
import { PetOrders1770000006000 } from '../migrations/1770000006000-pet-orders.js';
import { UsageDimensions1770000007000 } from '../migrations/1770000007000-usage-dimensions.js';
import { RequestLog1770000008000 } from '../migrations/1770000008000-request-log.js';
import { ImportedFiles1770000009000 } from '../migrations/1770000009000-imported-files.js';
import { UsageUnits1770000010000 } from '../migrations/1770000010000-usage-units.js';
import { CoveringPetIndexes1770000011000 } from '../migrations/1770000011000-covering-pet-indexes.js';
import { ImportedFile } from '../pets/import/imported-file.entity.js';
import { PetImport } from '../pets/import/pet-import.entity.js';
import { Pet } from '../pets/pet.entity.js';
import { Project } from '../projects/project.entity.js';
import { KeyBanRow } from '../rate-limit/memory/key-ban.entity.js';
import { RateWindow } from '../rate-limit/memory/rate-window.entity.js';
import { LeftOutCount } from '../request-log/left-out-count.entity.js';
import { LoggedRequest } from '../request-log/logged-request.entity.js';
import { UsageCount } from '../usage/usage-count.entity.js';

const MIGRATIONS = [
  Initial1770000000000,
  PetImports1770000001000,
  RateLimits1770000002000,
  Domains1770000003000,
  UsageAndKeys1770000004000,
  OrderTurn1770000005000,
  PetOrders1770000006000,
  UsageDimensions1770000007000,
  RequestLog1770000008000,
  ImportedFiles1770000009000,
  UsageUnits1770000010000,
  CoveringPetIndexes1770000011000,
];

const ENTITIES = [
  Project,
  ApiKey,
  Pet,
  PetImport,
  ImportedFile,
  IdempotencyKey,
  AuditEvent,
  RateWindow,
  KeyBanRow,
  ChangeSequence,
  Domain,
  DomainEvent,
  Certificate,
  AcmeAccount,
  AcmeChallenge,
  AcmeOrder,
  UsageCount,
  LoggedRequest,
  LeftOutCount,
];

/** The tables of every noun. Spec: the database's schema is what its migrations make of it. */
export const DATABASE_SCHEMA: DatabaseSchema = { entities: ENTITIES, migrations: MIGRATIONS };
