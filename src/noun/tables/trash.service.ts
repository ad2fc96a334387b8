import { requireAnswerable, requireScope, type ServiceCall } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdempotencyService } from '../../tenants/idempotency/idempotency.service.js';
import type { NounModel } from '../definition/model.js';
import type { NounService } from '../records/noun.service.js';
import type { NounStore } from '../records/noun-store.js';
import type { NounRow } from '../records/row.js';
import { storedAnswers } from '../records/stored-answers.js';
import { type DeletedPage, type DeletedRequest, type NounTrash, RESTORABLE_DAYS } from './noun-trash.js';

/** The deleted records of the caller's project, which can be restored for 30 days. D-269. */
export class TrashService {
  constructor(
    private readonly model: NounModel,
    private readonly store: NounStore,
    private readonly trash: NounTrash,
    private readonly service: NounService,
    private readonly idempotency: IdempotencyService,
  ) {}

  /** The last deleted ones first. Throws `AppError forbidden`. */
  async list(call: ServiceCall, wanted: DeletedRequest): Promise<DeletedPage> {
    const { caller } = call;
    requireScope(caller, `${this.model.description.plural}:read`);
    const page = await this.trash.page(caller.projectId, wanted);
    return { ...page, rows: page.rows.map(this.service.shownTo(call)) };
  }

  /**
   * Restores a record with its id, and logs it as created. `answered` are the fields of the answer: without the scope to
   * read, only `id`. Throws `AppError forbidden`, `not_found`, `conflict` if another record has a unique value of it.
   */
  async restore(call: ServiceCall, id: bigint, answered: Iterable<string>): Promise<NounRow> {
    const { caller, idempotencyKey: key } = call;
    const { plural, type } = this.model.description;
    requireAnswerable(caller, plural, { changes: {}, fields: answered });
    requireScope(caller, `${plural}:write`);
    const row = await this.idempotency.once(
      { caller, key, operation: `restore${type}`, input: [id] },
      async (complete) => {
        const restored = await this.store.refuseTaken(() =>
          this.store.insertBy(
            caller,
            id,
            (manager) => this.trash.takeBack(manager, caller.projectId, id),
            complete,
          ),
        );
        return restored ?? this.refuseUnknown(id);
      },
      storedAnswers(this.model).ofRecord,
    );
    return this.service.shownTo(call)(row);
  }

  private refuseUnknown(id: bigint): never {
    const { singular } = this.model.description;
    const message = `There is no deleted ${singular} ${id}. A deleted ${singular} can be restored for ${RESTORABLE_DAYS} days.`;
    throw new AppError('not_found', message);
  }
}
