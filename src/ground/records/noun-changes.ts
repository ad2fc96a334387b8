import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata } from 'typeorm';
import { ID } from '../database/columns.js';
import type { Database } from '../database/database.js';
import { type Caller, hasOpenLog } from '../kernel/caller.js';
import { AppError, invalidField } from '../kernel/errors.js';
import { got } from '../kernel/got.js';
import type { ChangeFeeds, FollowedChanges } from './change-feed.js';
import type { ChangeKind, ChangeRow } from './change-log.entity.js';
import type { RecordChange, WrittenChange } from './change-log.js';
import { cursorOf, type Position, positionIn } from './position.js';

/** A page examines at most as many changes, so that a rare filter has a bound too. */
const EXAMINED_CHANGES = 1_000;

/** The change of a record of a noun, as readers see it. */
export interface Change<Row> {
  readonly cursor: string;
  readonly kind: ChangeKind;
  readonly atMs: number;
  /** After the change; a deleted one as it was. */
  readonly record: Row;
}

export interface ChangesRequest<Row> {
  /** As the client sent it; null = none. */
  readonly after: string | null;
  /** The client's name of `after`. */
  readonly field: 'after' | 'cursor';
  /** A stream has no pages. */
  readonly pageSize: number;
  /** Asked for the record as it is, and as it was before the change. */
  matches(record: Row): boolean;
}

export interface ChangePage<Row> {
  readonly changes: readonly Change<Row>[];
  /** Behind everything that was examined. */
  readonly endCursor: string;
  readonly hasNextPage: boolean;
}

export type ChangeStream<Row> = Pick<FollowedChanges<Change<Row>>, 'cursor' | 'onWake' | 'take' | 'stop'>;

/** The changes of a noun's records: written beside each record, read as pages or as a stream. */
export class NounChanges<Row extends object> {
  /** Streams of a project share their rows, and so what was made of them. */
  private readonly known = new WeakMap<ChangeRow, { change: Change<Row>; before: Row } | null>();

  constructor(
    private readonly entity: new () => Row,
    private readonly db: Database,
    private readonly feeds: ChangeFeeds,
  ) {}

  /** A change as the log has it; none for an update that changed nothing. */
  written({ before, after }: RecordChange<Row>): WrittenChange[] {
    const columns = this.metadata.columns.map(({ propertyName }) => propertyName as keyof Row);
    const names = columns.filter((name) => name !== 'projectId');
    const changed =
      before && after ? names.filter((name) => !isDeepStrictEqual(before[name], after[name])) : null;
    if (changed?.length === 0) return [];
    const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
    const replaced = changed && jsonOf(before, changed);
    return [{ noun: this.metadata.tableName, kind, record: jsonOf(after ?? before, names), replaced }];
  }

  /**
   * The next changes. Throws `AppError conflict` while the log is off, `invalid_request` for a malformed cursor, `gone` for
   * one that the log does not reach.
   */
  async page(caller: Caller, wanted: ChangesRequest<Row>): Promise<ChangePage<Row>> {
    const { log } = this.feeds;
    const after = this.positionOf(caller, wanted);
    // Before the rows: a change that is committed in between would be skipped.
    const start = after ?? (await log.newest(caller.projectId));
    const rows = await log.after(caller.projectId, after, EXAMINED_CHANGES);
    const changes: Change<Row>[] = [];
    let examined = 0;
    for (const row of rows) {
      if (changes.length === wanted.pageSize) break;
      examined += 1;
      const change = this.matching(row, wanted);
      if (change) changes.push(change);
    }
    const end = rows[examined - 1] ?? start;
    const hasNextPage = examined < rows.length || rows.length === EXAMINED_CHANGES;
    return { changes, endCursor: cursorOf(end), hasNextPage };
  }

  /** Resolves once the stream is live; without a cursor it begins now. Throws as `page`. */
  async follow(caller: Caller, wanted: ChangesRequest<Row>): Promise<ChangeStream<Row>> {
    const from = this.positionOf(caller, wanted);
    // Before the stream begins: an answer with a status can still refuse the cursor.
    if (from) await this.feeds.log.after(caller.projectId, from, 1);
    return this.feeds.follow(caller.projectId, from, (row) => this.matching(row, wanted));
  }

  private positionOf(caller: Caller, { after, field }: ChangesRequest<Row>): Position | null {
    if (!hasOpenLog(caller, this.feeds.log.now())) throw closedLog(caller);
    const position = after === null ? null : positionIn(after);
    if (after !== null && position === null)
      throw invalidField(field, got('must be a cursor of the change log', after));
    return position;
  }

  private matching(row: ChangeRow, wanted: ChangesRequest<Row>): Change<Row> | null {
    const known = this.known.get(row) ?? this.changeIn(row);
    this.known.set(row, known);
    return known && (wanted.matches(known.change.record) || wanted.matches(known.before))
      ? known.change
      : null;
  }

  /** Null = the change of another noun. */
  changeIn(row: ChangeRow): { change: Change<Row>; before: Row } | null {
    if (row.noun !== this.metadata.tableName) return null;
    const { kind, atMs, projectId } = row;
    const values = JSON.parse(row.record);
    const int64s = this.metadata.columns.filter(({ transformer }) => transformer === ID.transformer);
    const recordOf = (texts: Record<string, unknown>): Row => {
      const record: Record<string, unknown> = { projectId, ...texts };
      // A change that was logged before a field was defined has none.
      for (const { propertyName: name, default: value } of this.metadata.columns)
        record[name] ??= value ?? null;
      for (const { propertyName: name } of int64s)
        record[name] = ID.transformer.from((record[name] ?? null) as string | null);
      return record as Row;
    };
    const before = recordOf({ ...values, ...JSON.parse(row.replaced ?? '{}') });
    return { change: { cursor: cursorOf(row), kind, atMs, record: recordOf(values) }, before };
  }

  private get metadata(): EntityMetadata {
    return this.db.repository(this.entity).metadata;
  }
}

function closedLog({ changesSinceMs }: Caller): AppError {
  const [problem, advice] =
    changesSinceMs === null
      ? ['is off', 'An operator can switch it on: petstore projects set <slug> --changes on.']
      : ['was just switched on', `It opens at ${new Date(changesSinceMs).toISOString()}.`];
  return new AppError('conflict', `The change log of this project ${problem}. ${advice}`);
}

function jsonOf<Row>(record: Row | null, names: readonly (keyof Row)[]): string {
  const values = Object.fromEntries(names.map((name) => [name, record?.[name]]));
  return JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
