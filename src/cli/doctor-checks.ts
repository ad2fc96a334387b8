import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { type Config, type DatabaseTarget, eachServer, isInMemory } from '../ground/config/config.js';
import { clockAheadMs } from '../ground/database/clock-difference.js';
import { POSITION, WAIT } from '../ground/database/cluster/list-reads.js';
import { askServer, textOf } from '../ground/database/cluster/server-facts.js';
import { type DatabaseSchema, withDataSource } from '../ground/database/data-source.js';
import { openProblem } from '../ground/database/database-errors.js';
import { AppError } from '../ground/kernel/errors.js';
import { LAST_MS } from '../ground/kernel/ids.js';
import { pendingMigrations } from '../ground/migrating/migration-plan.js';
import { differenceIn, differences, WRITE } from '../ground/migrations/files/migrated-tables.js';
import { connectRedis, placeOf } from '../ground/redis/redis-connection.js';
import { RedisLimiter } from '../request/rate-limit/redis/redis-limiter.js';

export interface CheckResult {
  ok: boolean;
  found: string;
  /** Null = nothing to do. */
  remedy: string | null;
}

export const ok = (found: string): CheckResult => ({ ok: true, found, remedy: null });
export const problem = (found: string, remedy: string): CheckResult => ({ ok: false, found, remedy });

const QUERY_TIMEOUT_MS = 5_000;
const MIN_FREE_BYTES = 100_000_000;
/** Records that different processes create may be listed in a wrong order by as much. */
const MAX_CLOCK_DIFFERENCE_MS = 1_000;
/** From the first release to the last time that an id can encode. */
const PLAUSIBLE_FROM_MS = Date.UTC(2025, 0, 1);
const PLAUSIBLE_TO_MS = LAST_MS;

export async function checkDisk({ database }: Config): Promise<CheckResult | null> {
  if (database.kind !== 'sqlite' || isInMemory(database)) return null;
  const file = resolve(database.path);
  const folder = existingFolder(dirname(file));
  const remedy = `Let this user write to ${folder}, or set DATABASE_URL to another place.`;
  if (!statSync(folder).isDirectory()) return problem(`${folder} is not a folder`, remedy);
  // SQLite creates more files next to the database file.
  if (!isWritable(folder)) return problem(`this user can't write to the folder ${folder}`, remedy);
  if (existsSync(file) && !isWritable(file)) {
    return problem(`this user can't write to the file ${file}`, remedy);
  }
  const { bavail, bsize } = statfsSync(folder);
  const free = `${Math.floor((bavail * bsize) / 1e6)} MB free in ${folder}`;
  return bavail * bsize < MIN_FREE_BYTES ? problem(`only ${free}`, 'Free some disk space.') : ok(free);
}

export async function checkDatabase({ database }: Config): Promise<CheckResult | null> {
  if (isInMemory(database))
    return ok('in memory: the data is lost when the process ends, and no other process can use it');
  if (isNew(database)) return ok('a new file; the first command or start creates it');
  const servers = eachServer(database);
  const found = await Promise.all(
    servers.map(async (server) => {
      try {
        const facts = await ask(server, (source) => askServer(server, (sql) => source.query(sql)));
        const place = servers.length > 1 && 'url' in server ? `${new URL(server.url).host}: ` : '';
        return ok(`${place}${textOf(facts)} answers`);
      } catch (error) {
        return problem(openProblem(server, error), 'Start it, or correct DATABASE_URL.');
      }
    }),
  );
  const { remedy = null } = found.find((each) => !each.ok) ?? {};
  return { ok: remedy === null, found: found.map((each) => each.found).join('; '), remedy };
}

/** Whether the replica gets, within 2 s, all that the database has committed now. */
export async function checkReplica({ database, replica }: Config): Promise<CheckResult | null> {
  if (replica === null) return null;
  try {
    const [asked] = await ask(database, (source) => source.query(POSITION));
    if (!asked.position) {
      const remedy = 'MySQL needs gtid_mode=ON, MariaDB log_bin. Until then no list is read at the replica.';
      return problem('the database does not number its transactions', remedy);
    }
    const [row] = await ask(replica, (source) => source.query(WAIT, [asked.position, 2]));
    if (String(row.waited) === '0') return ok('it has all that the database has committed');
    return problem('it has not got all writes of the database after 2 s', 'Repair its replication.');
  } catch (error) {
    return problem(openProblem(replica, error), 'Start it, or correct DATABASE_READ_URL.');
  }
}

export async function checkMigrations(
  { database }: Config,
  schema: DatabaseSchema,
): Promise<CheckResult | null> {
  if (isInMemory(database)) return null;
  const known = schema.migrations.length;
  try {
    const pending = await pendingMigrations(database, schema);
    const found = `${known - pending.length} of ${known} applied`;
    if (pending.length === 0) return ok(found);
    return problem(found, 'Run `petstore migrate`; the gateway also does it when it starts.');
  } catch (error) {
    // The database check has reported an unavailable database already.
    return error instanceof AppError ? problem(error.message, 'Update this program.') : null;
  }
}

/** Whether the migrations make what the definitions need. */
export async function checkDefinitions(schema: DatabaseSchema): Promise<CheckResult> {
  try {
    const found = await differences(schema);
    if (found.length === 0) return ok('the migrations make what they need');
    return problem(found.map(differenceIn).join('; '), `${WRITE}.`);
  } catch (error) {
    return problem((error as Error).message, 'Correct the migration.');
  }
}

/** Charges a probe: a Redis that answers can still be full, be a replica, or forbid scripts. */
export async function checkRedis({ redisUrl }: Config): Promise<CheckResult | null> {
  if (redisUrl === null) return null;
  const redis = await connectRedis(redisUrl);
  const limiter = new RedisLimiter(redis);
  const reason = await limiter.problem();
  const place = placeOf(redisUrl, redis);
  await limiter.close();
  if (reason === null) return ok(`${place} counts the quotas`);
  const advice = reason.startsWith('MOVED')
    ? 'It is a node of a Redis Cluster: add ?cluster=true to REDIS_URL.'
    : 'Correct REDIS_URL, or repair Redis. Until then each process counts alone.';
  return problem(`${place}: ${reason}`, advice);
}

/** Sends an export without spans. */
export async function checkTracing({ tracing }: Config): Promise<CheckResult | null> {
  if (tracing === null) return null;
  const { tracesUrl, headers } = tracing;
  const { origin } = new URL(tracesUrl);
  const remedy =
    'Correct OTEL_EXPORTER_OTLP_ENDPOINT or _HEADERS. The collector must take OTLP over HTTP in JSON.';
  try {
    const { status } = await fetch(tracesUrl, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"resourceSpans":[]}',
      redirect: 'error',
      signal: AbortSignal.timeout(QUERY_TIMEOUT_MS),
    });
    return status < 300 ? ok(`${origin} takes spans`) : problem(`${origin} answers ${status}`, remedy);
  } catch (error) {
    return problem(`${origin}: ${String((error as Error).cause ?? error)}`, remedy);
  }
}

export async function checkClock({ database }: Config): Promise<CheckResult | null> {
  const remedy = 'Set the clock, best with NTP: quotas, expiry and ids depend on it.';
  const now = new Date().toISOString();
  if (Date.now() < PLAUSIBLE_FROM_MS || Date.now() > PLAUSIBLE_TO_MS) return problem(`it is ${now}?`, remedy);
  // SQLite has no clock.
  if (database.kind === 'sqlite') return ok(now);
  const aheadMs = await ask(database, (source) => clockAheadMs((sql) => source.query(sql), Date.now)).catch(
    () => null,
  );
  // The database check has reported an unavailable database already.
  if (aheadMs === null) return ok(now);
  const found = `${now}, ${aheadMs.toFixed(0)} ms ahead of the database`;
  return Math.abs(aheadMs) <= MAX_CLOCK_DIFFERENCE_MS ? ok(found) : problem(found, remedy);
}

function ask<T>(database: DatabaseTarget, question: (source: DataSource) => Promise<T>): Promise<T> {
  const settings = { poolSize: 1, queryTimeoutMs: QUERY_TIMEOUT_MS };
  return withDataSource(database, { entities: [], migrations: [] }, settings, question);
}

/** Whether the SQLite file does not exist. Opening it would create it. */
function isNew(database: DatabaseTarget): boolean {
  return database.kind === 'sqlite' && !existsSync(resolve(database.path));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder));
}
