import { Field } from 'type-graphql';
import { type FieldProblem, invalidRequest } from '../../../../ground/kernel/errors.js';
import { got } from '../../../../ground/kernel/got.js';
import { parseInt64 } from '../../../../ground/kernel/int64.js';
import { MAX_PAGE_SIZE } from '../../../../ground/kernel/validation.js';
import { KeysetCursors } from '../../../../ground/records/keyset-cursors.js';
import { PlainType } from '../../operations/type-options.js';

@PlainType(
  'PageInfo',
  'The position of a page in its list, as in Relay connections. A record is on exactly one page if its creation was acknowledged before the first page was read, and it is neither changed nor deleted meanwhile. A newer record may be on none: the change log has each one.',
)
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether more entries follow.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether the page was requested with `after`.' })
  hasPreviousPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the first entry; null on an empty page.',
  })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'The cursor of the last entry, for `after`; null on an empty page. It does not find every record that is created later.',
  })
  endCursor!: string | null;
}

/** The position of a page of which each node knows its cursor. */
export class NodesPageInfo implements PageInfoType {
  constructor(
    private readonly nodes: readonly { readonly cursor: string }[],
    readonly hasPreviousPage: boolean,
    readonly hasNextPage: boolean,
  ) {}

  get startCursor() {
    return this.nodes[0]?.cursor ?? null;
  }

  get endCursor() {
    return this.nodes.at(-1)?.cursor ?? null;
  }
}

/** The page size without `first`, of lists that people look through. */
export const ACTIVITY_PAGE_SIZE = 50;
export const FIRST_RULE = `1 to ${MAX_PAGE_SIZE}`;

/** The values that a filter asks for. A key's id that is not an integer is the id of no key: ids are never negative. */
export function valuesOf(given: { keyId?: string | null } | null | undefined) {
  const { keyId, ...rest } = given ?? {};
  const values = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  const key = typeof keyId === 'string' ? { keyId: parseInt64(keyId) ?? -1n } : {};
  return { ...Object.fromEntries(values), ...key };
}

/** The cursors of a list, newest first. Another filter has others; the order of its values does not matter. */
export function cursorsOf(list: string, filter: object): KeysetCursors {
  const wanted = Object.entries(filter).map(([name, value]) => `${name}=${value}`);
  return new KeysetCursors({ singular: list, plural: list }, wanted.sort());
}

interface PageArguments {
  first: number | null;
  after: string | null | undefined;
}

/** The page that a client asks for. Throws `AppError invalid_request`. */
export function requestedPage(cursors: KeysetCursors, { first, after }: PageArguments) {
  const pageSize = first ?? ACTIVITY_PAGE_SIZE;
  const position = typeof after === 'string' ? cursors.decode(after) : undefined;
  const problems: FieldProblem[] = [];
  if (pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    problems.push({ field: 'first', message: got(`must be a whole number from ${FIRST_RULE}`, pageSize) });
  }
  if (position === null) {
    problems.push({
      field: 'after',
      message: got('must be a cursor of this list, with the same filter', after),
    });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { pageSize, beforeId: position?.id ?? null };
}

/** The connection of a page in its list. */
export function connection<Row extends { id: bigint }>(
  cursors: KeysetCursors,
  { rows, hasNextPage }: { rows: readonly Row[]; hasNextPage: boolean },
  { beforeId }: { beforeId: bigint | null },
) {
  const nodes = rows.map((row) => ({ ...row, id: String(row.id), cursor: cursors.encode(row) }));
  return { nodes, pageInfo: new NodesPageInfo(nodes, beforeId !== null, hasNextPage) };
}
