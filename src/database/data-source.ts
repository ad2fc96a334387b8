import type libsql from 'libsql';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { AuditEvent } from '../audit/audit-event.entity.js';
import { AcmeAccount } from '../certificates/acme-account.entity.js';
import { AcmeChallenge } from '../certificates/acme-challenge.entity.js';
import { AcmeOrder } from '../certificates/acme-order.entity.js';
import { Certificate } from '../certificates/certificate.entity.js';
import type { DatabaseTarget } from '../config.js';
import { Domain } from '../domains/domain.entity.js';
import { DomainEvent } from '../domains/domain-event.entity.js';
import { IdempotencyKey } from '../idempotency/idempotency-key.entity.js';
import { Initial1770000000000 } from '../migrations/1770000000000-initial.js';
import { PetImports1770000001000 } from '../migrations/1770000001000-pet-imports.js';
import { RateLimits1770000002000 } from '../migrations/1770000002000-rate-limits.js';
import { Domains1770000003000 } from '../migrations/1770000003000-domains.js';
import { UsageAndKeys1770000004000 } from '../migrations/1770000004000-usage-and-keys.js';
import { OrderTurn1770000005000 } from '../migrations/1770000005000-order-turn.js';
import { Pet } from '../pets/pet.entity.js';
import { PetImport } from '../pets/pet-import.entity.js';
import { Project } from '../projects/project.entity.js';
import { KeyBanRow } from '../rate-limit/key-ban.entity.js';
import { RateWindow } from '../rate-limit/rate-window.entity.js';
import { UsageCount } from '../usage/usage-count.entity.js';
import { ChangeSequence } from './change-sequence.entity.js';

export interface DataSourceSettings {
  poolSize: number;
  /** The longest wait for a connection and, separately, for one statement. */
  queryTimeoutMs: number;
  /** SQLite: 64-bit integers arrive as bigint. Off for schema work: TypeORM compares its pragmas with plain numbers. */
  exactIntegers: boolean;
}

export const MIGRATIONS = [
  Initial1770000000000,
  PetImports1770000001000,
  RateLimits1770000002000,
  Domains1770000003000,
  UsageAndKeys1770000004000,
  OrderTurn1770000005000,
];

const ENTITIES = [
  Project,
  ApiKey,
  Pet,
  PetImport,
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
];

/** Schema work may take long; finding out that there is no server may not. */
const CONNECT_TIMEOUT_MS = 8_000;

const WAL_KEPT_BYTES = 64 * 1024 * 1024;

/** The one place where a DataSource is made; nothing is opened yet. Of the two drivers only the one that is used is loaded. */
export async function createDataSource(
  target: DatabaseTarget,
  settings: DataSourceSettings,
): Promise<DataSource> {
  const shared = {
    entities: ENTITIES,
    migrations: MIGRATIONS,
    synchronize: false,
    logging: false,
  } satisfies Partial<DataSourceOptions>;

  if (target.kind === 'sqlite') {
    const { SqliteDriver } = await import('./sqlite-driver.js');
    return new DataSource({
      ...shared,
      type: 'better-sqlite3',
      driver: SqliteDriver,
      database: target.path,
      enableWAL: true,
      // The driver waits without yielding to other requests; longer waits are retries of `Database`.
      timeout: 50,
      prepareDatabase: (connection: libsql.Database) => {
        connection.pragma('synchronous = FULL');
        // A long reader from outside lets the log of changes grow; afterwards the file shrinks again.
        connection.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
        if (settings.exactIntegers) connection.defaultSafeIntegers(true);
      },
    });
  }
  const { boundedMysql } = await import('./bounded-mysql.js');
  return new DataSource({
    ...shared,
    type: target.kind,
    driver: boundedMysql(settings),
    url: target.url,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: Math.min(settings.queryTimeoutMs, CONNECT_TIMEOUT_MS),
    poolSize: settings.poolSize,
    ...(target.tls ? { ssl: {} } : {}),
    extra: { queueLimit: settings.poolSize * 50, enableKeepAlive: true },
  });
}
