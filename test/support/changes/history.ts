import {
  type CommittedChange,
  kindOf,
  type Lineage,
  type ReceivedChange,
  type SeenRecord,
  shownAfter,
} from './evidence.js';

/** A lineage with the position of each cursor: the number of changes up to it. */
export class History {
  private readonly positions = new Map<string, number[]>();
  private readonly ids = new Set<string>();

  constructor(readonly lineage: Lineage) {
    this.positions.set(lineage.start, [0]);
    for (const [index, change] of lineage.changes.entries()) {
      const known = this.positions.get(change.cursor);
      if (known) known.push(index + 1);
      else this.positions.set(change.cursor, [index + 1]);
      this.ids.add(recordOf(change).id);
    }
  }

  get end(): number {
    return this.lineage.changes.length;
  }

  /** Null = the lineage does not have the cursor. Of a cursor that names several changes, the last one. */
  positionOf(cursor: string): number | null {
    return this.positions.get(cursor)?.at(-1) ?? null;
  }

  /** As `positionOf`; of a cursor that names several changes, the one that was received. */
  positionOfChange(received: ReceivedChange): number | null {
    const known = this.positions.get(received.cursor);
    return known?.find((position) => isSame(this.changeAt(position), received)) ?? known?.at(-1) ?? null;
  }

  /** The change that leads to the position. */
  changeAt(position: number): CommittedChange | undefined {
    return this.lineage.changes[position - 1];
  }

  /** Whether the lineage has changes of the record. */
  knows(id: string): boolean {
    return this.ids.has(id);
  }

  /** The records of the filtered table at the position. */
  tableAt(position: number, status: string | null): Map<string, SeenRecord> {
    const table = new Map<string, SeenRecord>();
    for (const change of this.lineage.changes.slice(0, position)) applyTo(table, change, status);
    return table;
  }
}

/** The record after the change; of a deletion the one before. */
export function recordOf({ before, after }: CommittedChange): SeenRecord {
  const record = after ?? before;
  if (record === null) throw new Error('a change without a record');
  return record;
}

export function isSame(change: CommittedChange | undefined, { kind, record }: ReceivedChange): boolean {
  return change !== undefined && kindOf(change) === kind && recordOf(change).text === record.text;
}

export function applyTo(
  table: Map<string, SeenRecord>,
  change: CommittedChange,
  status: string | null = null,
): void {
  const { id } = recordOf(change);
  const shown = shownAfter(change, status);
  if (shown) table.set(id, shown);
  else table.delete(id);
}
