import type { EntityManager } from 'typeorm';
import { cursorOf, type Position } from '../../../../src/ground/records/position.js';
import { onDatabase } from '../../backups/every-table.js';
import type { CommittedChange, Lineage, SeenRecord, Snapshot } from '../evidence.js';
import { type FollowedProject, seenToy } from './followed-project.js';

interface Row {
  readonly number: string;
  readonly at: string;
  readonly kind: string;
  readonly record: string;
  readonly replaced: string | null;
}

interface ToyRow {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string | null;
  readonly createdAtMs: string | number;
}

const KEPT_CHANGES = 10;
/** The client of MySQL refuses long answers. */
const PAGE_ROWS = 5_000;
const CHANGES = `SELECT CAST(number AS CHAR) AS number, CAST(at_ms AS CHAR) AS at, kind, record, replaced FROM changes WHERE project_id = ? AND number > ? ORDER BY changes.number LIMIT ${PAGE_ROWS}`;
const COUNTER = `SELECT CAST(number AS CHAR) AS number, CAST(at_ms AS CHAR) AS at FROM change_logs
  WHERE project_id = ?`;
const TOYS = `SELECT CAST(id AS CHAR) AS id, name, CAST(category_id AS CHAR) AS categoryId, status,
  CAST(created_at_ms AS CHAR) AS createdAtMs FROM toys WHERE project_id = ? AND id > ? ORDER BY toys.id LIMIT ${PAGE_ROWS}`;

/** The log of a project as the database has it, read by statements of this test alone. */
export class StoredLog {
  private readonly ended: Lineage[] = [];
  private changes: CommittedChange[] = [];
  private snapshots: Snapshot[] = [];
  private newest: Position = { number: 0, atMs: 0 };

  private constructor(
    private readonly databaseUrl: string,
    private readonly project: FollowedProject,
    /** The cursor before the first change. */
    private readonly start: string,
    private readonly texts: Map<string, SeenRecord>,
  ) {}

  /** `texts` has the records that subscribers received, so that equal ones share their memory. */
  static async open(
    databaseUrl: string,
    project: FollowedProject,
    texts: Map<string, SeenRecord>,
  ): Promise<StoredLog> {
    const counter = await onDatabase(databaseUrl, (source) => counterOf(source, project));
    const log = new StoredLog(databaseUrl, project, cursorOf(counter), texts);
    log.newest = counter;
    return log;
  }

  /** The lineages, the one that is alive last. */
  get lineages(): Lineage[] {
    const { start, changes, snapshots } = this;
    return [...this.ended, { project: this.project.slug, start, changes, snapshots }];
  }

  /** The cursor of the newest change that was read. */
  get cursor(): string {
    return cursorOf(this.newest);
  }

  /** Reads the new changes, and the whole table at the same moment. */
  async read(): Promise<void> {
    const { projectId } = this.project;
    await onDatabase(this.databaseUrl, (source) =>
      source.transaction(async (manager) => {
        this.newest = await counterOf(manager, this.project);
        for await (const row of rowsBehind<Row>(
          manager,
          CHANGES,
          projectId,
          this.changes.at(-1)?.number ?? 0,
        )) {
          this.changes.push(this.committed(row));
        }
        const records: SeenRecord[] = [];
        for await (const row of rowsBehind<ToyRow>(manager, TOYS, projectId, -1))
          records.push(this.seen(row));
        this.snapshots.push({ cursor: this.cursor, records });
      }),
    );
  }

  /** Deletes all changes but a few, as if they were older than what is kept. */
  async trim(): Promise<void> {
    await this.read();
    await onDatabase(this.databaseUrl, (source) =>
      source.query('DELETE FROM changes WHERE project_id = ? AND number <= ?', [
        this.project.projectId,
        this.newest.number - KEPT_CHANGES,
      ]),
    );
  }

  /** Begins a lineage with the changes that the restored database has. To be called before anybody writes. */
  async noteRestore(): Promise<void> {
    this.ended.push(...this.lineages.slice(-1));
    this.newest = await onDatabase(this.databaseUrl, (source) => counterOf(source, this.project));
    this.changes = this.changes.filter(({ number }) => number <= this.newest.number);
    this.snapshots = [];
    await this.read();
  }

  private committed({ number, at, kind, record, replaced }: Row): CommittedChange {
    const values: ToyRow = JSON.parse(record);
    const after = this.seen(values);
    const before = this.seen({ ...values, ...JSON.parse(replaced ?? '{}') });
    return {
      cursor: cursorOf({ number: Number(number), atMs: Number(at) }),
      number: Number(number),
      before: kind === 'created' ? null : before,
      after: kind === 'deleted' ? null : after,
    };
  }

  private seen({ createdAtMs, ...toy }: ToyRow): SeenRecord {
    const record = seenToy({ ...toy, createdAt: new Date(Number(createdAtMs)).toISOString() });
    const known = this.texts.get(record.text) ?? record;
    this.texts.set(record.text, known);
    return known;
  }
}

/** The rows of a select in the order of their `id` or `number`, page by page. */
async function* rowsBehind<R extends { id?: string; number?: string }>(
  manager: EntityManager,
  select: string,
  projectId: bigint,
  first: number | string,
): AsyncGenerator<R> {
  for (let behind = first; ; ) {
    const rows: R[] = await manager.query(select, [projectId, behind]);
    yield* rows;
    if (rows.length < PAGE_ROWS) return;
    behind = rows.at(-1)?.id ?? rows.at(-1)?.number ?? behind;
  }
}

async function counterOf(
  source: Pick<EntityManager, 'query'>,
  { projectId }: FollowedProject,
): Promise<Position> {
  const [row]: { number: string; at: string }[] = await source.query(COUNTER, [projectId]);
  return { number: Number(row?.number), atMs: Number(row?.at) };
}
