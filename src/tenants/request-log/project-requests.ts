import type { Database } from '../../ground/database/database.js';
import { type NewestPage, newestPages, type WantedPage } from '../../ground/database/newest-pages.js';
import type { SqlPart } from '../../ground/database/sql-dialect.js';
import { requireScope, type ServiceCall } from '../../ground/kernel/caller.js';
import { HOUR_MS } from '../../ground/kernel/duration.js';
import { invalidField } from '../../ground/kernel/errors.js';
import { firstIdAt } from '../../ground/kernel/ids.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';
import type { KeyName, KeyNames } from '../api-keys/key-names.js';
import { numberOf, oldestKept } from '../usage/buckets.js';
import type { UsageService } from '../usage/usage.service.js';
import { LoggedRequest, REQUEST_RETENTION } from './logged-request.entity.js';
import type { RequestWriter } from './request-writer.js';

const { keptMs: KEPT_MS, maxOfOwner: MAX_LOGGED } = REQUEST_RETENTION;

/** A filter may have to read all 10,000 rows of the project. */
const MAX_FILTERED_LISTS = 5;

export interface WantedRequests extends WantedPage {
  filter: RequestFilter;
}

interface ShownRequest extends Omit<LoggedRequest, 'projectId' | 'keyId' | 'durationUs' | 'strikeBy'> {
  /** Digits, as in the response. */
  keyId: string;
  keyName: string;
  keyPrefix: string;
  durationMs: number;
}

/** A client that made strikes with a key. */
export interface StrikingClient {
  /** Digits, as in the response. */
  keyId: string;
  /** Its `User-Agent`, of at most 200 characters. */
  client: string;
  strikes: number;
  lastAtMs: number;
}

export interface RequestPage extends NewestPage<ShownRequest> {
  /** Requests of the last 48 UTC hours that the log does not have, this hour included. */
  leftOut: number;
}

/** A client can change its name with each request. */
export const MAX_STRIKING_CLIENTS = 20;

const NO_KEY: KeyName = { name: '', prefix: '' };

/** The log of the requests that the keys of the caller's project sent. */
export class ProjectRequests {
  constructor(
    private readonly db: Database,
    private readonly keyNames: KeyNames,
    private readonly sources: { writer: RequestWriter; usage: UsageService },
    private readonly now: () => number,
  ) {}

  /** The wanted pages, in their order. Four statements. Throws `AppError forbidden`, `invalid_request`. */
  async read({ caller }: ServiceCall, wanted: readonly WantedRequests[]): Promise<RequestPage[]> {
    requireScope(caller, 'keys');
    if (wanted.filter(({ filter }) => conditionsOf(filter).length > 0).length > MAX_FILTERED_LISTS) {
      throw invalidField('filter', `may be given at most ${MAX_FILTERED_LISTS} times in an operation`);
    }
    const { projectId } = caller;
    const { oldestId, leftOut } = await this.extent(projectId);
    const isShown = { sql: 'id >= ?', values: [oldestId] };
    const pages = await newestPages(
      this.db,
      LoggedRequest,
      projectId,
      wanted.map((page) => ({ ...page, conditions: [isShown, ...conditionsOf(page.filter)] })),
    );
    const keyIds = pages.flatMap(({ rows }) => rows.map(({ keyId }) => keyId));
    const keys = await this.keyNames.of(projectId, keyIds);
    return pages.map(({ rows, hasNextPage }) => ({
      rows: rows.map((row) => shown(row, keys)),
      hasNextPage,
      leftOut,
    }));
  }

  /** The clients that made strikes in the last 48 hours, most strikes first. One statement. Throws `AppError forbidden`. */
  async strikingClients({ caller }: ServiceCall): Promise<StrikingClient[]> {
    requireScope(caller, 'keys');
    type Row = { key_id: string | bigint; client: string; strikes: string | bigint; at_ms: string | bigint };
    const rows = await this.db.union<Row>([
      {
        sql: `SELECT key_id, strike_by AS client, COUNT(*) AS strikes, MAX(at_ms) AS at_ms FROM logged_requests WHERE project_id = ? AND id >= ? AND strike_by IS NOT NULL GROUP BY key_id, strike_by ORDER BY strikes DESC, at_ms DESC LIMIT ${MAX_STRIKING_CLIENTS}`,
        values: [caller.projectId, firstIdAt(this.now() - KEPT_MS)],
      },
    ]);
    const clients = rows.map(({ key_id, client, strikes, at_ms }) => ({
      keyId: String(key_id),
      client,
      strikes: Number(strikes),
      lastAtMs: Number(at_ms),
    }));
    return clients.sort((a, b) => b.strikes - a.strikes || b.lastAtMs - a.lastAtMs);
  }

  /** The oldest row that is shown: rows that are too many, but not yet deleted, are not. */
  private async extent(projectId: bigint) {
    const nowMs = this.now();
    const due = await this.due(projectId, nowMs);
    const since = firstIdAt(nowMs - KEPT_MS);
    const found = await this.db.union<{ name: string; value: string | number | bigint }>([
      {
        sql: "SELECT 'oldest' AS name, id AS value FROM logged_requests WHERE project_id = ? ORDER BY logged_requests.id DESC LIMIT 1 OFFSET ?",
        values: [projectId, MAX_LOGGED - 1],
      },
      {
        sql: "SELECT 'kept' AS name, COUNT(*) AS value FROM logged_requests WHERE project_id = ? AND id >= ?",
        values: [projectId, firstIdAt(oldestKept('hour', nowMs) * HOUR_MS)],
      },
    ]);
    const values = new Map(found.map(({ name, value }) => [name, BigInt(value)]));
    const oldest = values.get('oldest') ?? 0n;
    const kept = Math.min(Number(values.get('kept')), MAX_LOGGED);
    return {
      oldestId: oldest > since ? oldest : since,
      leftOut: Math.min(Math.max(0, due - kept), INT32_MAX),
    };
  }

  /**
   * The rows that the log would have if it left nothing out: the requests that usage has counted. Called before the rows are
   * read, so that a request in between is in the log and not left out. D-225.
   */
  private async due(projectId: bigint, nowMs: number): Promise<number> {
    const { writer, usage } = this.sources;
    if (!writer.isOn) return 0;
    const counts = await usage.read(projectId, {
      bucket: 'hour',
      numbers: [oldestKept('hour', nowMs), numberOf('hour', nowMs)],
      dimensions: ['door', 'free'],
    });
    const counted = counts.reduce((sum, { admitted, refused }) => sum + admitted + refused, 0);
    return counted - writer.unstoredOf(projectId);
  }
}

function shown(
  { projectId: _, strikeBy: __, keyId, durationUs, ...request }: LoggedRequest,
  keys: ReadonlyMap<bigint, KeyName>,
): ShownRequest {
  const { name: keyName, prefix: keyPrefix } = keys.get(keyId) ?? NO_KEY;
  return { ...request, keyId: String(keyId), keyName, keyPrefix, durationMs: durationUs / 1_000 };
}

const COLUMNS = {
  keyId: 'key_id',
  door: 'door',
  operation: 'operation',
  status: 'status',
  outcome: 'outcome',
  requestId: 'request_id',
} as const;

/** A request must have all the given values. */
export type RequestFilter = Partial<Pick<LoggedRequest, keyof typeof COLUMNS>>;

function conditionsOf(filter: RequestFilter): SqlPart[] {
  const names = Object.keys(COLUMNS) as (keyof RequestFilter)[];
  const given = names.filter((name) => filter[name] !== undefined);
  return given.map((name) => ({
    sql: `${COLUMNS[name]} = ?`,
    // MySQL ignores blanks at the end. No stored value has one, and nothing equals NULL.
    values: [String(filter[name]).endsWith(' ') ? null : filter[name]],
  }));
}
