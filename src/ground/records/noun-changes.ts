import type { EntityManager, EntityMetadata } from 'typeorm';
import { ID } from '../database/columns.js';
import type { Database } from '../database/database.js';
import { type Caller, hasOpenLog } from '../kernel/caller.js';
import { AppError, invalidRequest } from '../kernel/errors.js';
import type { ChangeFeeds } from './change-feed.js';
import type { ChangeKind, ChangeRow } from './change-log.entity.js';
import { kindOf, type RecordChange, type WrittenChange } from './change-log.js';
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

/** Whether a filter has the record as it is, or had it before the change. */
export type Matches<Row> = (record: Row) => boolean;

export interface ChangesRequest<Row> {
  /** As the client sent it; null = none. */
  readonly after: string | null;
  /** The client's name of `after`. */
  readonly field: 'after' | 'cursor';
  readonly matches: Matches<Row>;
}

export interface ChangePage<Row> {
  readonly changes: readonly Change<Row>[];
  /** Behind everything that was examined. */
  readonly endCursor: string;
  readonly hasNextPage: boolean;
}

/** A stream of a noun's changes. Each of ten thousand idle ones waits, so it is no chain of generators. */
export interface ChangeStream<Row> {
  /** Behind everything that was examined. */
  readonly cursor: string;
  /** Null = stopped. */
  next(): Promise<readonly Change<Row>[] | null>;
  stop(): void;
}

type Reader = Pick<Caller, 'projectId' | 'changesSinceMs'>;

/** The changes of a noun's records: written beside each record, read as pages or as a stream. */
export class NounChanges<Row extends object> {
  /** Streams of a project share their rows, and so what was made of them. */
  private readonly known = new WeakMap<ChangeRow, { change: Change<Row>; before: Row } | null>();

  constructor(
    private readonly entity: new () => Row,
    private readonly db: Database,
    private readonly feeds: ChangeFeeds,
  ) {}

  announcing<T>(projectId: bigint, write: () => Promise<T>): Promise<T> {
    return this.feeds.log.announcing(projectId, write);
  }

  /** Runs a logged write in a transaction. `note` adds a change to the log. */
  write<T>(
    projectId: bigint,
    work: (manager: EntityManager, note: (change: RecordChange) => void) => Promise<T>,
  ): Promise<T> {
    return this.feeds.log.write(projectId, (manager, changes) =>
      work(manager, (change) => {
        const written = this.written(change);
        if (written) changes.push(written);
      }),
    );
  }

  /** The last step of a transaction that writes these records. */
  append(manager: EntityManager, projectId: bigint, changes: readonly RecordChange[]): Promise<void> {
    const written = changes.map((change) => this.written(change)).filter((change) => change !== null);
    return this.feeds.log.append(manager, projectId, written);
  }

  /**
   * The next changes. Throws `AppError conflict` while the log is off, `invalid_request` for a malformed cursor, `gone` for
   * one that the log does not reach.
   */
  async page(reader: Reader, wanted: ChangesRequest<Row>, pageSize: number): Promise<ChangePage<Row>> {
    const after = this.positionOf(reader, wanted);
    const rows = await this.feeds.log.after(reader.projectId, after, EXAMINED_CHANGES);
    const found: Change<Row>[] = [];
    let end: Position = after ?? { number: 0, atMs: 0 };
    let examined = 0;
    for (const row of rows) {
      if (found.length === pageSize) break;
      examined += 1;
      end = row;
      const change = this.matching(row, wanted.matches);
      if (change) found.push(change);
    }
    if (examined === 0 && after === null) end = await this.feeds.log.newest(reader.projectId);
    const hasNextPage = examined < rows.length || rows.length === EXAMINED_CHANGES;
    return { changes: found, endCursor: cursorOf(end), hasNextPage };
  }

  /** Resolves once the stream is live; without a cursor it begins now. Throws as `page`. */
  async follow(reader: Reader, wanted: ChangesRequest<Row>): Promise<ChangeStream<Row>> {
    const from = this.positionOf(reader, wanted);
    // Before the stream begins: an answer with a status can still refuse the cursor.
    if (from) await this.feeds.log.after(reader.projectId, from, 1);
    const followed = await this.feeds.follow(reader.projectId, from);
    const select = (row: ChangeRow) => this.matching(row, wanted.matches) ?? [];
    return {
      get cursor() {
        return cursorOf(followed.position);
      },
      stop: () => followed.stop(),
      async next() {
        for (;;) {
          const changes = (await followed.next())?.flatMap(select) ?? null;
          if (changes?.length !== 0) return changes;
        }
      },
    };
  }

  private positionOf(reader: Reader, { after, field }: ChangesRequest<Row>): Position | null {
    if (!hasOpenLog(reader, this.feeds.log.now())) throw refuseClosedLog(reader);
    const position = after === null ? null : positionIn(after);
    if (after !== null && position === null) {
      throw invalidRequest([{ field, message: 'must be a cursor of the change log' }]);
    }
    return position;
  }

  private matching(row: ChangeRow, matches: Matches<Row>): Change<Row> | null {
    const known = this.known.get(row) ?? this.read(row);
    this.known.set(row, known);
    return known && (matches(known.change.record) || matches(known.before)) ? known.change : null;
  }

  /** Null = the change of another noun. */
  private read(row: ChangeRow): { change: Change<Row>; before: Row } | null {
    if (row.noun !== this.metadata.tableName) return null;
    const { kind, atMs, projectId } = row;
    const values = JSON.parse(row.record);
    const recordOf = (texts: Record<string, unknown>): Row => {
      const record: Record<string, unknown> = { projectId, ...texts };
      for (const name of this.int64s) if (record[name] != null) record[name] = BigInt(String(record[name]));
      return record as Row;
    };
    const before = recordOf({ ...values, ...JSON.parse(row.replaced ?? '{}') });
    return { change: { cursor: cursorOf(row), kind, atMs, record: recordOf(values) }, before };
  }

  /** Null = an update that changed nothing. */
  private written(change: RecordChange): WrittenChange | null {
    const { before, after } = change as { [side in keyof RecordChange]: Record<string, unknown> | null };
    const names = this.metadata.columns.map(({ propertyName }) => propertyName);
    const record = after ?? before ?? {};
    const replaced = before && after ? names.filter((name) => before[name] !== after[name]) : null;
    if (replaced?.length === 0) return null;
    return {
      noun: this.metadata.tableName,
      kind: kindOf(change),
      record: jsonOf(
        record,
        names.filter((name) => name !== 'projectId'),
      ),
      replaced: before && replaced && jsonOf(before, replaced),
    };
  }

  private get metadata(): EntityMetadata {
    return this.db.repository(this.entity).metadata;
  }

  private get int64s(): string[] {
    return this.metadata.columns
      .filter(({ transformer }) => transformer === ID.transformer)
      .map(({ propertyName }) => propertyName);
  }
}

function refuseClosedLog({ changesSinceMs }: Reader): AppError {
  const [problem, advice] =
    changesSinceMs === null
      ? ['is off', 'An operator can switch it on: petstore projects set <slug> --changes on.']
      : ['was just switched on', `It opens at ${new Date(changesSinceMs).toISOString()}.`];
  return new AppError('conflict', `The change log of this project ${problem}. ${advice}`);
}

function jsonOf(record: Record<string, unknown>, names: readonly string[]): string {
  const values = Object.fromEntries(names.map((name) => [name, record[name]]));
  return JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
