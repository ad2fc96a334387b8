import { AppError, invalidRequest, refuseProblems } from '../../ground/kernel/errors.js';
import type { RecordRules } from '../../ground/kernel/record-rules.js';
import type { NameOf } from '../../ground/records/record-table.js';
import type { ModelAction, NounModel } from '../definition/model.js';
import type { NounRow } from './row.js';
import { rulesOf } from './schemas.js';

type Values = Readonly<Record<string, unknown>>;

/** The decisions of a definition's functions about a record, checked by its rules. They run within a transaction. D-275. */
export class Decisions {
  private readonly rules: RecordRules<NounRow>;

  constructor(private readonly model: NounModel) {
    this.rules = rulesOf(model, []);
  }

  /** The fields that the action changes. Throws what it refuses, and `AppError invalid_request` for a value that breaks a rule. */
  ofAction(action: ModelAction, record: NounRow, input: object, nowMs: number): Partial<NounRow> {
    const result = action.run({ ...record }, { ...input }, { now: new Date(nowMs).toISOString() });
    return this.checked(result, `The action ${action.name} of ${this.model.description.plural}`);
  }

  /** The values of a new record, as the hook leaves them. */
  ofCreation(record: Values, nowMs: number): Values {
    const { beforeWrite, checks } = this.model;
    if (!beforeWrite) return record;
    const changed = {
      ...record,
      ...this.hooked({ kind: 'create', before: null, after: { ...record } }, nowMs),
    };
    if (checks) refuseProblems(checks(changed as never));
    return changed;
  }

  /** The changes of a record, with those of the hook. */
  ofUpdate(before: NounRow, changes: Partial<NounRow>, nowMs: number): Partial<NounRow> {
    const after = { ...before, ...changes };
    return { ...changes, ...this.hooked({ kind: 'update', before: { ...before }, after }, nowMs) };
  }

  /** Throws what the hook refuses. */
  ofDeletion(before: NounRow, nowMs: number): void {
    this.hooked({ kind: 'delete', before: { ...before }, after: null }, nowMs);
  }

  private hooked(change: object, nowMs: number): Partial<NounRow> {
    const { beforeWrite, description } = this.model;
    if (!beforeWrite) return {};
    const result = beforeWrite({ ...change, now: new Date(nowMs).toISOString() } as never);
    return this.checked(result, `beforeWrite of ${description.plural}`);
  }

  /** For authors without TypeScript, what they returned by mistake. */
  private checked(result: unknown, what: string): Partial<NounRow> {
    if (result === undefined || result === null) return {};
    if (typeof result !== 'object' || 'then' in result)
      throw new Error(`${what} must return the fields to change, and at once: no promise.`);
    const { fields } = this.model;
    const stated = Object.entries(result).filter(([, value]) => value !== undefined);
    const unknown = stated.find(([name]) => !fields.some((field) => field.name === name));
    if (unknown) throw new Error(`${what} returned ${unknown[0]}, which is no field.`);
    return stated.length === 0 ? {} : this.rules.parseChanges(Object.fromEntries(stated));
  }
}

/** Gives the fields of a refusal the names that the client knows. */
export function named<T>(decide: () => T, at: number, nameOf: NameOf | undefined): T {
  try {
    return decide();
  } catch (error) {
    const problems = error instanceof AppError && nameOf ? error.errors : undefined;
    if (!problems || !nameOf) throw error;
    throw invalidRequest(problems.map(({ field, message }) => ({ field: nameOf(field, at), message })));
  }
}
