import { withDrawnIds } from '../ground/database/drawn-id.js';
import { type Caller, requireAnswerable, requireScope, type ServiceCall } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import {
  type Complete,
  type Creation,
  creationCodec,
  ID_CODEC,
  type IdempotencyService,
  objectCodec,
} from '../tenants/idempotency/idempotency.service.js';
import { WIDGET } from './widget.description.js';
import type { Widget } from './widget.entity.js';
import type { NewWidget, WidgetChanges } from './widget.rules.js';
import type { WidgetStore } from './widget.store.js';
import type { WidgetListRequest, WidgetPage } from './widget-list.js';

/** Widgets of the caller's project. For the caller, widgets of other projects do not exist. */
export class WidgetService {
  constructor(
    private readonly store: WidgetStore,
    private readonly ids: IdGenerator,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** Throws `AppError forbidden`. */
  async list({ caller }: ServiceCall, wanted: WidgetListRequest): Promise<WidgetPage> {
    requireScope(caller, 'widgets:read');
    return this.store.page(caller.projectId, wanted);
  }

  /** Throws `AppError forbidden`, `not_found`. */
  async get({ caller }: ServiceCall, id: bigint): Promise<Widget> {
    requireScope(caller, 'widgets:read');
    return (await this.store.find(caller.projectId, id)) ?? refuseUnknown(id);
  }

  /** A repeated Idempotency-Key returns the first answer. Throws `AppError forbidden`. */
  async create(call: ServiceCall, widget: NewWidget): Promise<Widget> {
    const [created] = await this.insert(call, 'createWidget', [widget]);
    return created as Widget;
  }

  /** Creates all of the widgets or none, in their order. Throws as `create`. */
  createAll(call: ServiceCall, widgets: readonly NewWidget[]): Promise<Widget[]> {
    return this.insert(call, 'createWidgets', widgets);
  }

  /**
   * `answered` are the fields of the answer. Without the scope `widgets:read`, only `id` and the fields of `changes` are
   * allowed. Throws `AppError forbidden`, `not_found`.
   */
  update(
    { caller, idempotencyKey }: ServiceCall,
    id: bigint,
    changes: WidgetChanges,
    answered: Iterable<string>,
  ): Promise<Widget> {
    requireAnswerable(caller, WIDGET.plural, { changes, fields: answered });
    requireScope(caller, 'widgets:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'updateWidget', input: [id, ...partsOf(changes)] },
      async (complete) => (await this.store.update(caller, id, changes, complete)) ?? refuseUnknown(id),
      objectCodec<Widget>('projectId', 'id'),
    );
  }

  /** Returns the id. Throws `AppError forbidden`, `not_found`. */
  delete({ caller, idempotencyKey }: ServiceCall, id: bigint): Promise<bigint> {
    requireScope(caller, 'widgets:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'deleteWidget', input: [id] },
      async (complete) => ((await this.store.delete(caller, id, complete)) ? id : refuseUnknown(id)),
      ID_CODEC,
    );
  }

  private insert(
    { caller, idempotencyKey }: ServiceCall,
    operation: string,
    widgets: readonly NewWidget[],
  ): Promise<Widget[]> {
    requireScope(caller, 'widgets:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation, input: widgets.flatMap(partsOf) },
      (complete) => this.insertRows(caller, widgets, complete),
      creationCodec((creation) => rowsOf(caller.projectId, widgets, creation)),
    );
  }

  private insertRows(
    caller: Caller,
    widgets: readonly NewWidget[],
    complete: Complete<Widget[]> | null,
  ): Promise<Widget[]> {
    return withDrawnIds(this.ids, widgets.length, async (ids) => {
      const rows = rowsOf(caller.projectId, widgets, { ids, createdAtMs: this.now() });
      await this.store.insertAll(caller, rows, complete);
      return rows;
    });
  }
}

function refuseUnknown(id: bigint): never {
  throw new AppError('not_found', `There is no widget ${id}.`);
}

/** For Idempotency-Key: every field, with its name in a change. */
function partsOf(widget: WidgetChanges): (string | null)[] {
  return Object.entries(widget).flat();
}

function rowsOf(projectId: bigint, widgets: readonly NewWidget[], { ids, createdAtMs }: Creation): Widget[] {
  return widgets.map((widget, at) => ({ projectId, id: ids[at] as bigint, ...widget, createdAtMs }));
}
