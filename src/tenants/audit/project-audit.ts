import type { Database } from '../../ground/database/database.js';
import { type NewestPage, newestPages, type WantedPage } from '../../ground/database/newest-pages.js';
import type { SqlPart } from '../../ground/database/sql-dialect.js';
import { requireScope, type ServiceCall } from '../../ground/kernel/caller.js';
import { INT64_MAX, parseInt64 } from '../../ground/kernel/int64.js';
import { type AuditDetail, AuditEvent } from './audit-event.entity.js';

/** An act must have every given value. */
export interface AuditFilter {
  /** The first part of its action, such as `key`; letters only. */
  kind?: string;
  /** The key that acted. */
  keyId?: bigint;
}

export interface WantedEvents extends WantedPage {
  filter: AuditFilter;
}

/** A filter looks at so many events before `beforeId`: one that selects none must not read a whole project's log. */
export const FILTERED_EVENTS = 5_000;

/** An act as the project's people read it. */
interface ShownEvent extends Omit<AuditEvent, 'projectId' | 'detail'> {
  detail: DetailPair[];
}

export type AuditPage = NewestPage<ShownEvent>;

interface KeyNames {
  of(projectId: bigint, ids: Iterable<bigint>): Promise<ReadonlyMap<bigint, KeyName>>;
}

export class ProjectAudit {
  constructor(
    private readonly db: Database,
    private readonly keyNames: KeyNames,
  ) {}

  /** The wanted pages, in their order: one statement for all events, and one for names. Throws `AppError forbidden`. */
  async read({ caller }: ServiceCall, wanted: readonly WantedEvents[]): Promise<AuditPage[]> {
    requireScope(caller, 'keys');
    const { projectId } = caller;
    const pages = await newestPages(
      this.db,
      AuditEvent,
      projectId,
      wanted.map((page) => ({ ...page, conditions: conditionsOf(projectId, page) })),
    );
    const keys = await this.keyNames.of(
      projectId,
      pages.flatMap(({ rows }) => rows.flatMap(keysIn)),
    );
    return pages.map(({ rows, hasNextPage }) => ({
      rows: rows.map((row) => shown(row, keys)),
      hasNextPage,
    }));
  }
}

/** The SQL depends only on the names in the filter, so that few texts are prepared. */
function conditionsOf(projectId: bigint, { beforeId, filter: { kind, keyId } }: WantedEvents): SqlPart[] {
  const given = [
    ...(kind === undefined ? [] : [{ sql: 'action LIKE ?', values: [`${kind}.%`] }]),
    ...(keyId === undefined ? [] : [{ sql: 'actor = ?', values: [`key:${keyId}`] }]),
  ];
  if (given.length === 0) return [];
  const values = [projectId, beforeId ?? INT64_MAX];
  return [...given, { sql: `id >= COALESCE((${OLDEST_FILTERED}), 0)`, values }];
}

/** The id of the last event that a filter looks at. */
const OLDEST_FILTERED = `SELECT id FROM audit_events WHERE project_id = ? AND id < ?
  ORDER BY audit_events.id DESC LIMIT 1 OFFSET ${FILTERED_EVENTS - 1}`;

function keysIn(row: AuditEvent): bigint[] {
  return [keyIdOf(row.actor), subjectKeyOf(row)].filter((id) => id !== null);
}

/** The key that an act changed; null = it changed something else. */
function subjectKeyOf({ action, subject }: AuditEvent): bigint | null {
  return action.startsWith('key.') ? keyIdOf(`key:${subject}`) : null;
}

function shown(row: AuditEvent, keys: ReadonlyMap<bigint, KeyName>): ShownEvent {
  const { projectId: _, actor, requestId, detail, ...event } = row;
  const [actingKey, subjectKey] = [keyIdOf(actor), subjectKeyOf(row)];
  const changed = subjectKey === null ? undefined : keys.get(subjectKey);
  const pairs = detailPairs(detail ?? {});
  return {
    ...event,
    actor: nameOfActor(actor, keys),
    // A project that takes over a domain acts in this project's log too: its request is not this project's to know.
    requestId: actingKey !== null && !keys.has(actingKey) ? null : requestId,
    detail: changed ? [{ name: 'key', value: keyLabel(changed) }, ...pairs] : pairs,
  };
}

/** A detail of an act; a value that is not set is null. */
interface DetailPair {
  name: string;
  value: string | null;
}

/** The details of an act in their stored order. A time `endsAtMs` becomes `endsAt`, in ISO 8601. */
function detailPairs(detail: AuditDetail): DetailPair[] {
  return Object.entries(detail).map(([name, value]) => {
    const text = name.endsWith('Ms') && value !== null ? new Date(value).toISOString() : value;
    return { name: name.replace(/Ms$/, ''), value: text === null ? null : String(text) };
  });
}

interface KeyName {
  name: string;
  prefix: string;
}

/** The id of the key that acted; null = no key acted. */
function keyIdOf(actor: string): bigint | null {
  return actor.startsWith('key:') ? parseInt64(actor.slice('key:'.length)) : null;
}

/**
 * The actor as people read it. `keys` are the project's own keys: a key of another project is never named. The operator's
 * account on the machine stays in the table. D-107.
 */
function nameOfActor(actor: string, keys: ReadonlyMap<bigint, KeyName>): string {
  const keyId = keyIdOf(actor);
  if (keyId !== null) {
    const key = keys.get(keyId);
    return key ? `API key ${keyLabel(key)}` : 'Another project';
  }
  if (actor.startsWith('cli:')) return 'Operator, on the command line';
  return OWN_ACTORS[actor] ?? 'The gateway';
}

/** Actors of the gateway itself. */
const OWN_ACTORS: Readonly<Record<string, string>> = { limiter: 'The rate limiter', demo: 'The demo setup' };

const keyLabel = ({ name, prefix }: KeyName) => `${name} (${prefix}…)`;
