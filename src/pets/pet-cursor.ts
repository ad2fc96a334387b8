import { createHash } from 'node:crypto';
import { parseInt64 } from '../kernel/int64.js';
import type { PetList, PetPosition } from './pet-list.js';

/**
 * The cursors of a list: opaque positions that no other list accepts. Only the lists with oldest pets first and without
 * `nameStartsWith` or `ids` share theirs, for any status: clients of both doors have stored them for years. D-109.
 */
export class PetCursors {
  private knownMark: string | undefined;

  constructor(private readonly list: PetList) {}

  /** The position behind this pet. */
  encode({ id, name }: { id: bigint | string; name: string | null }): string {
    const position = this.isShared ? `pet:${id}` : `pets:${this.mark}:${id}:${this.isByName ? name : ''}`;
    return Buffer.from(position).toString('base64url');
  }

  /** Null = a cursor that `encode` did not return for this list. */
  decode(cursor: string): PetPosition | null {
    const text = Buffer.from(cursor, 'base64url').toString();
    const [, , digits = '', name = ''] = /^pets?:([\w-]{12}:)?([-\d]+)(?::(.*))?$/s.exec(text) ?? [];
    const id = parseInt64(digits);
    if (id === null || !name.startsWith(this.list.nameStartsWith ?? '')) return null;
    const position = { id, name: this.isByName ? name : null };
    return this.encode(position) === cursor ? position : null;
  }

  private get isByName(): boolean {
    return this.list.nameStartsWith !== null;
  }

  private get isShared(): boolean {
    return this.list.orderBy === 'OLDEST' && !this.isByName && this.list.ids === null;
  }

  /** Identifies the list in its cursors. */
  private get mark(): string {
    const { status, nameStartsWith, ids, orderBy } = this.list;
    this.knownMark ??= markOf([orderBy, status, nameStartsWith, ids?.map(String)]);
    return this.knownMark;
  }
}

function markOf(list: unknown): string {
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 12);
}
