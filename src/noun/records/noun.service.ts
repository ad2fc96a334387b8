import { withDrawnIds } from '../../ground/database/drawn-id.js';
import {
  type Caller,
  type NounScope,
  requireAnswerable,
  requireScope,
  type ServiceCall,
} from '../../ground/kernel/caller.js';
import { refuseProblems } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import type { Alongside, NameOf } from '../../ground/records/record-table.js';
import {
  type Creation,
  creationCodec,
  ID_CODEC,
  type IdempotencyService,
} from '../../tenants/idempotency/idempotency.service.js';
import type { ModelAction, NounModel } from '../definition/model.js';
import { type Decisions, named } from './decisions.js';
import type { ListedRow } from './noun-list.js';
import { NounReads } from './noun-reads.js';
import type { NounStore } from './noun-store.js';
import type { NounRow } from './row.js';
import { inputOf, storedAnswers } from './stored-answers.js';

/** The values of a record's fields, by name. */
export type Values = Readonly<Record<string, unknown>>;

/** A row as an answer has it. */
export type Shown = <Row extends NounRow | ListedRow>(row: Row) => Row;

/** The records of a noun in the caller's project, and what changes them. */
export class NounService extends NounReads {
  private readonly answers: ReturnType<typeof storedAnswers>;
  /** Null = nothing changes or refuses a write. */
  private readonly hook: Decisions | null;
  private readonly verify: ((row: NounRow) => void) | undefined = undefined;
  private readonly mayWrite: NounScope;

  constructor(
    model: NounModel,
    store: NounStore,
    private readonly ids: IdGenerator,
    private readonly idempotency: IdempotencyService,
    now: () => number,
    /** Of a noun with actions or a hook. */
    private readonly decisions: Decisions | null = null,
  ) {
    super(model, store, now);
    const { description, checks } = model;
    if (checks || model.computed.length > 0) {
      this.verify = (row) => {
        if (checks) refuseProblems(checks(row as never));
        this.requireAnswer(row);
      };
    }
    this.mayWrite = `${description.plural}:write`;
    this.answers = storedAnswers(model);
    this.hook = model.beforeWrite ? decisions : null;
  }

  /**
   * Creates a record; a repeated Idempotency-Key returns the first answer. Throws `AppError forbidden`, `conflict` for a
   * value that must be unique.
   */
  create({ caller, idempotencyKey }: ServiceCall, record: Values): Promise<NounRow> {
    requireScope(caller, this.mayWrite);
    const operation = `create${this.model.description.type}`;
    const input = idempotencyKey ? inputOf(this.model.fields, record) : [];
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation, input },
      async (complete) => {
        const alongside: Alongside<NounRow[]> =
          complete && ((manager, [created]) => complete(manager, created as NounRow));
        const [created] = await this.insert(caller, [record], alongside);
        return created as NounRow;
      },
      this.answers.ofRecord,
    );
  }

  /** Creates all of the records or none, and returns them in the same order. Throws as `create`. */
  createAll({ caller, idempotencyKey }: ServiceCall, records: readonly Values[]): Promise<NounRow[]> {
    requireScope(caller, this.mayWrite);
    const input = records.flatMap((record) => inputOf(this.model.fields, record));
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: `create${this.model.page}`, input },
      (complete) => this.insert(caller, records, complete, (field, at) => `inputs.${at}.${field}`),
      creationCodec((creation) => this.rowsOf(caller.projectId, records, creation)),
    );
  }

  /**
   * `answered` are the fields of the answer. Without the scope to read, only `id` and the fields of `changes` are allowed.
   * `expect` throws for a record that the caller does not expect; then nothing is changed. Throws `AppError forbidden`,
   * `not_found`, `conflict`, and `invalid_request` if the changed record is not valid.
   */
  update(
    { caller, idempotencyKey }: ServiceCall,
    id: bigint,
    changes: Values,
    answered: Iterable<string>,
    expect?: (before: NounRow) => void,
  ): Promise<NounRow> {
    const { description } = this.model;
    requireScope(caller, this.mayWrite);
    requireAnswerable(caller, description.plural, { changes, fields: answered });
    const { hook } = this;
    const nowMs = this.now();
    const wanted = changes as Partial<NounRow>;
    const decide = hook && ((before: NounRow) => hook.ofUpdate(before, wanted, nowMs));
    return this.idempotency.once(
      {
        caller,
        key: idempotencyKey,
        operation: `update${description.type}`,
        input: [id, ...inputOf(this.model.fields, changes)],
      },
      async (complete) =>
        (await this.refuseTaken(() =>
          this.store.update(caller, id, decide ?? wanted, complete, {
            expect,
            verify: this.verify,
          }),
        )) ?? this.refuseUnknown(id),
      this.answers.ofRecord,
    );
  }

  /**
   * Does an action, whose checked input is `input`, and returns the record; a repeated Idempotency-Key does nothing.
   * `answered` and `expect` are as for `update`. Throws as `update`, and what the action refuses.
   */
  async act(
    { caller, idempotencyKey }: ServiceCall,
    action: ModelAction,
    { id, input }: { id: bigint; input: Values },
    answered: Iterable<string>,
    expect?: (before: NounRow) => void,
  ): Promise<NounRow> {
    const { plural } = this.model.description;
    requireScope(caller, `${plural}:${action.name}`);
    const nowMs = this.now();
    let changed: string[] = [];
    const requireShown = (names: readonly string[]) =>
      requireAnswerable(caller, plural, {
        changes: Object.fromEntries(names.map((name) => [name, true])),
        fields: answered,
      });
    const decide = (before: NounRow) => {
      if (!this.decisions) throw new Error(`${plural} have no actions`);
      const changes = this.decisions.ofAction(action, before, input, nowMs);
      changed = Object.keys(changes);
      requireShown(changed);
      return this.hook?.ofUpdate(before, changes, nowMs) ?? changes;
    };
    const done = await this.idempotency.once(
      {
        caller,
        key: idempotencyKey,
        operation: action.operation,
        input: [id, ...inputOf(action.fields, input)],
      },
      async (complete) => {
        const alongside: Alongside<NounRow> =
          complete && ((manager, row) => complete(manager, { row, changed }));
        const row = await this.refuseTaken(() =>
          this.store.update(caller, id, decide, alongside, { expect, verify: this.verify }),
        );
        return { row: row ?? this.refuseUnknown(id), changed };
      },
      this.answers.ofAction,
    );
    // Another key may repeat the request.
    requireShown(done.changed);
    return done.row;
  }

  /**
   * Deletes a record and returns its id; a repeated Idempotency-Key deletes nothing. Throws `AppError forbidden`, `not_found`,
   * and what `expect` throws.
   */
  delete(
    { caller, idempotencyKey }: ServiceCall,
    id: bigint,
    expect?: (before: NounRow) => void,
  ): Promise<bigint> {
    requireScope(caller, this.mayWrite);
    const { hook } = this;
    const nowMs = this.now();
    const mayDelete = (before: NounRow) => {
      expect?.(before);
      hook?.ofDeletion(before, nowMs);
    };
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: `delete${this.model.description.type}`, input: [id] },
      async (complete) =>
        (await this.store.delete(caller, id, complete, { expect: hook ? mayDelete : expect }))
          ? id
          : this.refuseUnknown(id),
      ID_CODEC,
    );
  }

  /** Throws what would prevent the answer of a write, before its commit. */
  protected requireAnswer(_row: NounRow): void {}

  /** Makes rows what the caller's answers have. */
  shownTo(_call: ServiceCall): Shown {
    return (row) => row;
  }

  private insert(
    caller: Caller,
    records: readonly Values[],
    alongside: Alongside<NounRow[]>,
    nameOf?: NameOf,
  ): Promise<NounRow[]> {
    return withDrawnIds(this.ids, records.length, async (ids) => {
      const drawn = { ids, createdAtMs: this.now() };
      const created = this.rowsOf(caller.projectId, records, drawn, nameOf);
      for (const row of created) this.requireAnswer(row);
      await this.refuseTaken(() => this.store.insertAll(caller, created, alongside, nameOf));
      return created;
    });
  }

  private refuseTaken<T>(write: () => Promise<T>): Promise<T> {
    return this.model.uniques.length === 0 ? write() : this.store.refuseTaken(write);
  }

  /** The rows of new records, which have these ids in their order. */
  private rowsOf(
    projectId: bigint,
    records: readonly Values[],
    { ids, createdAtMs }: Creation,
    nameOf?: NameOf,
  ): NounRow[] {
    const { hook } = this;
    return records.map((record, at) => {
      const values = hook ? named(() => hook.ofCreation(record, createdAtMs), at, nameOf) : record;
      return { projectId, id: ids[at] as bigint, ...values, createdAtMs } as NounRow;
    });
  }
}
