import type { ServiceCall } from '../../ground/kernel/caller.js';
import type { ChangePage, ChangeStream, ChangesRequest } from '../../ground/records/noun-changes.js';
import type { ModelAction, NounModel } from '../definition/model.js';
import { NounService, type Shown, type Values } from './noun.service.js';
import type { ListedRow, NounListRequest, NounPage } from './noun-list.js';
import type { NounRow } from './row.js';

type Expect = (before: NounRow) => void;

/**
 * The service of a noun whose answers differ from its rows. Each answer computes fields from the record and the time. It lacks
 * the fields that the key may not read.
 */
export class ShownService extends NounService {
  override async list(call: ServiceCall, wanted: NounListRequest): Promise<NounPage> {
    const page = await super.list(call, wanted);
    return { ...page, rows: page.rows.map(this.shownTo(call)) };
  }

  override async lists(call: ServiceCall, wanted: readonly NounListRequest[]): Promise<NounPage[]> {
    const pages = await super.lists(call, wanted);
    return pages.map((page) => ({ ...page, rows: page.rows.map(this.shownTo(call)) }));
  }

  override async changes(call: ServiceCall, wanted: ChangesRequest<NounRow>): Promise<ChangePage<NounRow>> {
    const page = await super.changes(call, wanted);
    const shown = this.shownTo(call);
    return {
      ...page,
      changes: page.changes.map((change) => ({ ...change, record: shown(change.record) })),
    };
  }

  override async followChanges(
    call: ServiceCall,
    wanted: ChangesRequest<NounRow>,
  ): Promise<ChangeStream<NounRow>> {
    const stream = await super.followChanges(call, wanted);
    const shown = this.shownTo(call);
    return {
      get cursor() {
        return stream.cursor;
      },
      get onWake() {
        return stream.onWake;
      },
      set onWake(wake) {
        stream.onWake = wake;
      },
      take: async () => (await stream.take()).map((change) => ({ ...change, record: shown(change.record) })),
      stop: () => stream.stop(),
    };
  }

  override async get(call: ServiceCall, id: bigint): Promise<NounRow> {
    return this.shownTo(call)(await super.get(call, id));
  }

  override async getAll(call: ServiceCall, ids: readonly bigint[]): Promise<Map<bigint, NounRow>> {
    const found = await super.getAll(call, ids);
    const shown = this.shownTo(call);
    return new Map([...found].map(([id, row]) => [id, shown(row)]));
  }

  override async create(call: ServiceCall, record: Values): Promise<NounRow> {
    return this.shownTo(call)(await super.create(call, record));
  }

  override async createAll(call: ServiceCall, records: readonly Values[]): Promise<NounRow[]> {
    return (await super.createAll(call, records)).map(this.shownTo(call));
  }

  override async update(
    call: ServiceCall,
    id: bigint,
    changes: Values,
    answered: Iterable<string>,
    expect?: Expect,
  ): Promise<NounRow> {
    const row = await super.update(call, id, changes, answered, this.expecting(call, expect));
    return this.shownTo(call)(row);
  }

  override async act(
    call: ServiceCall,
    action: ModelAction,
    wanted: { id: bigint; input: Values },
    answered: Iterable<string>,
    expect?: Expect,
  ): Promise<NounRow> {
    const row = await super.act(call, action, wanted, answered, this.expecting(call, expect));
    return this.shownTo(call)(row);
  }

  override delete(call: ServiceCall, id: bigint, expect?: Expect): Promise<bigint> {
    return super.delete(call, id, this.expecting(call, expect));
  }

  /** A condition sees the record as the client does. */
  private expecting(call: ServiceCall, expect: Expect | undefined): Expect | undefined {
    const shown = this.shownTo(call);
    return expect && ((before) => expect(shown(before)));
  }

  /** A computed field may throw. */
  protected override requireAnswer(row: NounRow): void {
    this.computedOf(row);
  }

  override shownTo({ caller }: ServiceCall): Shown {
    const { fields, description } = this.model;
    const hidden = fields.flatMap(({ name, options: { readScope } }) =>
      readScope === undefined || caller.scopes.has(`${description.plural}:${readScope}`)
        ? []
        : [[name, null]],
    );
    const masked = Object.fromEntries(hidden);
    return (row) => ({ ...row, ...this.computedOf(row), ...masked });
  }

  private computedOf(row: NounRow | ListedRow): object {
    const { computed } = this.model;
    if (computed.length === 0) return {};
    const record = Object.freeze(recordOf(this.model, row));
    const at = { now: new Date(this.now()).toISOString() };
    const values = computed.map(({ field, of }) => {
      const value = of(record, at);
      // As in a list: the digits of a 64-bit integer are text.
      return [field.name, typeof row.id === 'string' && typeof value === 'bigint' ? String(value) : value];
    });
    return Object.fromEntries(values);
  }
}

/** The record of a row. The values of a list are texts of the database. */
function recordOf({ fields }: NounModel, row: NounRow | ListedRow): object {
  if (typeof row.id === 'bigint') {
    const { projectId: _, ...record } = row as NounRow;
    return record;
  }
  const listed = row as ListedRow;
  const values = fields.map(({ name, kind }) => {
    const value = listed[name] ?? null;
    if (value === null) return [name, null];
    if (kind.scalar === 'ID') return [name, BigInt(value)];
    return [name, kind.scalar === 'Int' ? Number(value) : (kind.toJson?.(value) ?? value)];
  });
  const own = { id: BigInt(listed.id), createdAtMs: Number(listed.createdAtMs) };
  return { ...own, ...Object.fromEntries(values) };
}
