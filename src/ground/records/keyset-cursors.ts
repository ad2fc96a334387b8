import { createHash } from 'node:crypto';
import { parseInt64 } from '../kernel/int64.js';

/** A place in a list: behind this record, which may be deleted since. */
export interface Keyset {
  id: bigint | string;
  /** The text by which the list is ordered before the id, if it has one. */
  text?: string;
}

/** The cursors of a list ordered by id, or by text and id: opaque positions that no other list accepts. D-109, D-242. */
export class KeysetCursors {
  private knownMark: string | undefined;

  /** `list` is the order with the filters; null = the lists of this noun that share their cursors. */
  constructor(
    private readonly noun: { readonly singular: string; readonly plural: string },
    private readonly list: readonly unknown[] | null,
    /** The list is ordered by a text before the id, and each text begins so; null = it is ordered by id. */
    private readonly prefix: string | null = null,
  ) {}

  encode({ id, text = '' }: Keyset): string {
    const { singular, plural } = this.noun;
    const position =
      this.list === null
        ? `${singular}:${id}`
        : `${plural}:${this.mark}:${id}:${this.prefix === null ? '' : text}`;
    return Buffer.from(position).toString('base64url');
  }

  /** Null = a cursor that `encode` did not return for this list. */
  decode(cursor: string): { id: bigint; text: string } | null {
    const position = Buffer.from(cursor, 'base64url').toString();
    const [, digits = '', text = ''] = /^\w+:(?:[\w-]{12}:)?([-\d]+)(?::(.*))?$/s.exec(position) ?? [];
    const id = parseInt64(digits);
    if (id === null || this.encode({ id, text }) !== cursor) return null;
    return text.startsWith(this.prefix ?? '') ? { id, text } : null;
  }

  private get mark(): string {
    this.knownMark ??= createHash('sha256')
      .update(JSON.stringify(this.list))
      .digest('base64url')
      .slice(0, 12);
    return this.knownMark;
  }
}
