import { type EntityManager, In } from 'typeorm';
import { takeTurn } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import type { DataVersions } from '../../ground/kernel/data-versions.js';
import { AppError, type FieldProblem, refuseProblems } from '../../ground/kernel/errors.js';
import type { NounChanges } from '../../ground/records/noun-changes.js';
import {
  type Beside,
  needing,
  type PlannedWrite,
  type Preparation,
} from '../../ground/records/record-table.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { inUse, MOST_REFERRING, type Relation } from '../definition/relations.js';
import { indexOf } from './noun-list.js';
import type { NounRow } from './row.js';

/** The parts of a noun that its references need. */
export interface Related {
  readonly model: NounModel;
  readonly entity: new () => NounRow;
  readonly references: References;
  readonly changes: NounChanges<NounRow>;
  readonly versions: DataVersions;
  readonly besides: readonly Beside<NounRow>[];
}

interface Required {
  readonly field: ModelField;
  readonly to: NounModel;
}

interface Dependent extends Related {
  readonly field: ModelField;
}

/** Lets the writes of nouns keep the rules of their references. Throws an `Error` for a noun that is not defined. */
export function relate(relations: readonly Relation[], related: ReadonlyMap<string, Related>): void {
  for (const { from, field: described, to } of relations) {
    const [source, target] = [related.get(from.plural), related.get(to.plural)];
    const field = source?.model.fields.find(({ name }) => name === described.name);
    if (!source || !target || !field)
      throw new Error(`The reference ${described.name} of ${from.singular} needs nouns of defineNoun.`);
    source.references.require({ field, to: target.model });
    target.references.depend({ ...source, field });
  }
}

/**
 * The rules between a noun, the nouns that it refers to, and those that refer to it. A write locks the record that it
 * refers to before any other, and so does the deletion of that record: neither misses the other. D-274, D-286.
 */
export class References {
  private readonly required: Required[] = [];
  /** The references with `onDelete: 'refuse'` or `'unset'`. */
  private readonly guarded: Required[] = [];
  private readonly dependents: Dependent[] = [];

  constructor(
    private readonly model: NounModel,
    private readonly db: Database,
    /** Called once a write needs them. */
    private readonly onUse: () => void,
  ) {}

  require(required: Required): void {
    const { mustExist, onDelete } = required.field.kind.reference ?? {};
    if (mustExist) this.onUse();
    if (mustExist) this.required.push(required);
    if (onDelete !== undefined && onDelete !== 'allow') this.guarded.push(required);
    // Writes that lock in the same order cannot deadlock.
    this.required.sort((a, b) => (a.to.table < b.to.table ? -1 : 1));
  }

  depend(dependent: Dependent): void {
    const { onDelete = 'allow' } = dependent.field.kind.reference ?? {};
    if (onDelete !== 'allow') this.onUse();
    if (onDelete === 'refuse') this.dependents.unshift(dependent);
    if (onDelete === 'unset') this.dependents.push(dependent);
  }

  preparationOf(projectId: bigint, write: PlannedWrite<NounRow>): Preparation | null {
    if ('deleted' in write) return this.beforeDeletion(projectId, write.deleted);
    const [records, nameOf] = 'created' in write ? [write.created, write.nameOf] : [[write.values], null];
    if (!this.required.some(({ field }) => records.some((record) => record[field.name] != null))) return null;
    const run = async (manager: EntityManager) => {
      await takeTurn(manager, projectId);
      const problems = await this.problemsOf(projectId, records, manager);
      refuseProblems(
        problems.flatMap((each, at) =>
          each.map(({ field, message }) => ({ field: nameOf?.(field, at) ?? field, message })),
        ),
      );
    };
    return { run, versions: [] };
  }

  /** The problems of each record that refers to a missing one. A `manager` of a transaction locks the others until its end. */
  async problemsOf(
    projectId: bigint,
    records: readonly Partial<NounRow>[],
    manager?: EntityManager,
  ): Promise<FieldProblem[][]> {
    const problems = records.map((): FieldProblem[] => []);
    for (const { field, to } of this.required) {
      const stated = records.map((record) => record[field.name] as bigint | null | undefined);
      const ids = [...new Set(stated.filter((id) => id != null))].sort((a, b) => (a < b ? -1 : 1));
      if (ids.length === 0) continue;
      const sql = `SELECT CAST(id AS CHAR) AS id FROM ${to.table} WHERE project_id = ? AND id IN (${ids.map(() => '?')}) ORDER BY ${to.table}.id`;
      const rows = manager
        ? await manager.query(`${sql} ${this.db.dialect.shareLock}`, [projectId, ...ids])
        : await this.db.execute(sql, [projectId, ...ids]);
      const known = new Set((rows as { id: string }[]).map(({ id }) => id));
      for (const [at, id] of stated.entries()) {
        if (id == null || known.has(String(id))) continue;
        const message = `there is no ${to.description.singular} ${id} in this project`;
        problems[at]?.push({ field: field.name, message });
      }
    }
    return problems;
  }

  /**
   * The values that a restored record loses: the other records were deleted since. Throws `AppError conflict` if it cannot be
   * without one.
   */
  async lostBy(manager: EntityManager, projectId: bigint, row: NounRow): Promise<Partial<NounRow>> {
    const lost: Record<string, null> = {};
    if (this.guarded.length > 0) await takeTurn(manager, projectId);
    for (const { field, to } of this.guarded) {
      const id = row[field.name] as bigint | null;
      if (id === null) continue;
      const found = await manager.query(
        `SELECT id FROM ${to.table} WHERE project_id = ? AND id = ? ${this.db.dialect.shareLock}`,
        [projectId, id],
      );
      // A tree: the record may refer to itself.
      if (found.length > 0) continue;
      if (field.kind.reference?.onDelete === 'unset') {
        lost[field.name] = null;
        continue;
      }
      const [own, other] = [this.model.description.singular, to.description.singular];
      const end = to.description.hasTrash ? `. Restore that ${other} first.` : ' for good.';
      const why = `${field.name} refers to the ${other} ${id}, which was deleted${end}`;
      throw new AppError('conflict', `The ${own} cannot be restored: ${why}`);
    }
    return lost as Partial<NounRow>;
  }

  private beforeDeletion(projectId: bigint, id: bigint): Preparation | null {
    if (this.dependents.length === 0) return null;
    const changed = this.dependents.filter(({ field }) => field.kind.reference?.onDelete === 'unset');
    return {
      versions: changed.map(({ versions }) => versions),
      run: async (manager, note) => {
        await takeTurn(manager, projectId);
        const own = `SELECT id FROM ${this.model.table} WHERE project_id = ? AND id = ?`;
        const rows = await manager.query(`${own} ${this.db.dialect.updateLock}`, [projectId, id]);
        if (rows.length === 0) return;
        for (const dependent of this.dependents) {
          const ids = await this.referring(manager, dependent, { projectId, id });
          if (ids.length === 0) continue;
          if (!changed.includes(dependent) || ids.length > MOST_REFERRING)
            throw new AppError('conflict', inUse(this.relationOf(dependent), ids.length));
          // Also without a log.
          const changes = await this.unset(manager, dependent, { projectId, ids });
          note?.(changes);
        }
      },
    };
  }

  /** The records that refer to the record, at most one more than `MOST_REFERRING`, locked. The record itself does not count. */
  private async referring(
    manager: EntityManager,
    { model: { table, description }, field }: Dependent,
    { projectId, id }: { projectId: bigint; id: bigint },
  ): Promise<bigint[]> {
    const { dialect } = this.db;
    const isOwn = description.plural === this.model.description.plural;
    // Without the hint, MySQL may examine, and lock, all records of the project.
    const index = dialect.forceIndex(indexOf(table, [field.column]) as string);
    const sql = `SELECT CAST(id AS CHAR) AS id FROM ${table} ${index} WHERE project_id = ? AND \`${field.column}\` = ? AND id <> ? ORDER BY ${table}.id LIMIT ${MOST_REFERRING + 1} ${dialect.updateLock}`;
    const rows = await manager.query(sql, [projectId, id, isOwn ? id : -1n]);
    return (rows as { id: string }[]).map((row) => BigInt(row.id));
  }

  /** Returns the changes for the change log. */
  private async unset(
    manager: EntityManager,
    { model, entity, changes: log, field, besides }: Dependent,
    { projectId, ids }: { projectId: bigint; ids: readonly bigint[] },
  ) {
    const where = { projectId, id: In([...ids]) };
    const rows = await manager.find(entity, { where, ...this.db.forUpdate });
    const changes = rows.map((before) => ({ before, after: { ...before, [field.name]: null } as NounRow }));
    for (const { after } of changes) {
      const [problem] = model.checks?.(after as never) ?? [];
      if (!problem) continue;
      const { singular } = model.description;
      throw new AppError(
        'conflict',
        `The ${singular} ${after.id} needs this ${this.model.description.singular}: without it, ${problem.field} ${problem.message}. Change that ${singular} first.`,
      );
    }
    const values = { [field.name]: null } as Partial<NounRow>;
    await manager.update(entity, where, values as object);
    for (const id of ids.slice(0, 1)) await needing(besides, { changed: id, values })?.(manager, changes);
    return changes.flatMap((change) => log.written(change));
  }

  private relationOf({ model, field }: Dependent) {
    return { from: model.description, field, to: this.model.description };
  }
}
