import { type FindOptionsWhere, In } from 'typeorm';
import { isDuplicate, isDuplicateId } from '../../ground/database/database-errors.js';
import { AppError, type FieldProblem } from '../../ground/kernel/errors.js';
import { inSentence } from '../../noun-words.js';
import type { ModelField, ModelUnique, NounModel } from '../definition/model.js';
import type { NounRow } from './row.js';

type Values = Readonly<Record<string, unknown>>;

/** The values of a noun that no two records of a project share. */
export class Uniques {
  constructor(
    private readonly model: NounModel,
    private readonly find: (where: FindOptionsWhere<NounRow>) => Promise<NounRow[]>,
  ) {}

  /** The problems of each record, to which `known` ones are added. A record with a problem does not count for those behind it. */
  async problemsOf(
    projectId: bigint,
    records: readonly Values[],
    known: readonly FieldProblem[][],
  ): Promise<FieldProblem[][]> {
    const { uniques } = this.model;
    const taken = await Promise.all(uniques.map((unique) => this.takenOf(projectId, unique, records)));
    return records.map((record, row) => {
      const problems = known[row] ?? [];
      const shared = uniques.map((unique) => sharedOf(unique, record));
      for (const [at, { field, together }] of uniques.entries()) {
        if (shared[at] === null || !taken[at]?.has(shared[at] as string)) continue;
        const others = together.length > 0 ? ` with the same ${labelsOf(together)}` : '';
        const message = `is the ${inSentence(field.label)} of another record${others}`;
        problems.push({ field: field.name, message });
      }
      if (problems.length > 0) return problems;
      for (const [at, value] of shared.entries()) taken[at]?.add(value);
      return [];
    });
  }

  /** Throws `AppError conflict` if the write repeats a value that must be unique. */
  async refuseTaken<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const taken =
        isDuplicate(error) && !isDuplicateId(error) && this.takenIn(String((error as Error).message));
      if (!taken) throw error;
      const { singular } = this.model.description;
      throw new AppError(
        'conflict',
        `Another ${singular} of the project has this ${taken}. Use another one, or change that ${singular}.`,
      );
    }
  }

  /** The labels of the values that another record has, from the database's error; null = another error. */
  private takenIn(message: string): string | null {
    const { table, uniques } = this.model;
    // At the end, because the values are before it. MySQL names the index, SQLite the columns.
    const unique = uniques.find(({ field, together }) => {
      const columns = [...together, field].map(({ column }) => column);
      const [index, listed] = [columns.join('_'), columns.map((column) => `, ${table}\\.${column}`).join('')];
      return new RegExp(`(['.]${table}_${index}(_unique)?'|\\.project_id${listed})$`).test(message);
    });
    return unique ? labelsOf([unique.field, ...unique.together]) : null;
  }

  private async takenOf(
    projectId: bigint,
    unique: ModelUnique,
    records: readonly Values[],
  ): Promise<Set<string | null>> {
    const stated = records.filter((record) => sharedOf(unique, record) !== null);
    const values = [unique.field, ...unique.together].map(({ name }) => {
      return [name, In([...new Set(stated.map((record) => record[name]))])];
    });
    const found = await this.find({ projectId, ...Object.fromEntries(values) });
    return new Set(found.map((row) => sharedOf(unique, row)));
  }
}

/** The values that only one record has; null = the record lacks one of them. */
function sharedOf({ field, together }: ModelUnique, record: Readonly<Record<string, unknown>>) {
  const values = [field, ...together].map(({ name }) => record[name] ?? null);
  return values.includes(null) ? null : JSON.stringify(values.map(String));
}

const labelsOf = (fields: readonly ModelField[]) =>
  fields.map(({ label }) => inSentence(label)).join(' and ');
