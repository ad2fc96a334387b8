import type { SeenRecord } from './evidence.js';

type Table = Map<string, SeenRecord>;

/** A subscriber's copy beside the table that it should equal. Each write costs the same, however large the tables are. */
export class Copy {
  private readonly differing = new Set<string>();
  /** The records that writes have replaced since the last `store`, oldest first. */
  private replaced: { table: Table; id: string; record: SeenRecord | undefined }[] = [];

  constructor(
    private readonly copy: Table,
    private readonly table: Table,
  ) {
    for (const id of [...copy.keys(), ...table.keys()]) this.compare(id);
  }

  /** An id whose record differs; undefined = the copy equals the table. */
  get difference(): string | undefined {
    const [id] = this.differing;
    if (id === undefined) return undefined;
    return `${this.copy.get(id)?.text ?? `no ${id}`} instead of ${this.table.get(id)?.text ?? 'nothing'}`;
  }

  receive(id: string, record: SeenRecord | null): void {
    this.write(this.copy, id, record);
  }

  commit(id: string, record: SeenRecord | null): void {
    this.write(this.table, id, record);
  }

  store(): void {
    this.replaced = [];
  }

  /** Goes back to the last `store`. */
  restore(): void {
    for (const { table, id, record } of this.replaced.reverse()) {
      if (record) table.set(id, record);
      else table.delete(id);
      this.compare(id);
    }
    this.replaced = [];
  }

  private write(table: Table, id: string, record: SeenRecord | null): void {
    this.replaced.push({ table, id, record: table.get(id) });
    if (record) table.set(id, record);
    else table.delete(id);
    this.compare(id);
  }

  private compare(id: string): void {
    if (this.copy.get(id)?.text === this.table.get(id)?.text) this.differing.delete(id);
    else this.differing.add(id);
  }
}
