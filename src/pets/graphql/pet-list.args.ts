import { ArgsType, Field, ID, Int } from 'type-graphql';
import { describedEnum } from '../../doors/graphql/operations/type-options.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseInt64 } from '../../ground/kernel/int64.js';
import {
  LIST_ORDERS,
  type ListOrder,
  MAX_PAGE_SIZE,
  PAGE_SIZE,
  pageSizeSchema,
  validator,
} from '../../ground/kernel/validation.js';
import type { ChangesRequest } from '../../ground/records/noun-changes.js';
import { PET } from '../pet.description.js';
import type { Pet, PetStatus } from '../pet.entity.js';
import { hasStatus, idsSchema, namePrefixSchema } from '../pet.rules.js';
import { MAX_IDS, PetCursors, type PetListRequest } from '../pet-list.js';
import { PetStatusEnum } from './pet.type.js';

const PetOrderEnum = describedEnum<ListOrder>(
  'PetOrder',
  'The order of a list of pets: by the time they were added, or by name if the list is filtered by name.',
  {
    OLDEST: 'The pet that was added first comes first. With `nameStartsWith`: by name from A to Z.',
    NEWEST:
      'The exact reverse of `OLDEST`: the pet that was added last comes first. With `nameStartsWith`: by name from Z to A.',
  },
);

@ArgsType()
export class PetListArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: PAGE_SIZE.default,
    description: `How many pets: ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}.`,
  })
  first?: number | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Only pets after this cursor of the same list. A cursor belongs to its order and filters; any other is refused with `INVALID_REQUEST`. Without `nameStartsWith` and `ids`, the cursors of `OLDEST` are valid for any `status`.',
  })
  after?: string | null;

  @Field(() => PetStatusEnum, {
    nullable: true,
    description:
      'Only pets with this status, such as `available`. Without it, pets of any status and pets without one.',
  })
  status?: PetStatus | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Only pets whose name starts with this text of 1 to 255 characters, for example `Re` for Rex and Reto. It is compared as stored, character by character: case-sensitive, spaces and accents included, `%` and `_` as themselves. The list is then ordered by name (by code point), and pets with the same name by age.',
  })
  nameStartsWith?: string | null;

  @Field(() => [ID], {
    nullable: true,
    description: `Only the pets with these identifiers, at most ${MAX_IDS}, for example \`["4711", "4712"]\`. Identifiers without a pet of the project are left out, and a repeated one counts once. The other arguments apply as to any list: with \`first: ${PAGE_SIZE.maximum}\` all of them are on one page, in the order of \`orderBy\`.`,
  })
  ids?: string[] | null;

  @Field(() => PetOrderEnum, {
    nullable: true,
    defaultValue: LIST_ORDERS[0],
    description: 'Which pets come first; `NEWEST` shows a new pet at the top of the first page.',
  })
  orderBy?: ListOrder | null;
}

const problemsOf = validator({
  type: 'object',
  properties: { first: pageSizeSchema(PET.plural), nameStartsWith: namePrefixSchema, ids: idsSchema },
});

/** The list that a client wants. Throws `AppError invalid_request` that names each invalid argument. */
export function parseListArgs({
  first,
  after,
  status,
  nameStartsWith,
  ids,
  orderBy,
}: PetListArgs): PetListRequest {
  const pageSize = first ?? PAGE_SIZE.default;
  const list = {
    status: status ?? null,
    nameStartsWith: nameStartsWith ?? null,
    ids: ids ? identifiers(ids.slice(0, MAX_IDS)) : null,
    orderBy: orderBy ?? LIST_ORDERS[0],
  };
  const problems = problemsOf({
    first: pageSize,
    nameStartsWith: nameStartsWith ?? undefined,
    ids: ids ?? undefined,
  });
  const position = typeof after === 'string' ? new PetCursors(list).decode(after) : undefined;
  if (position === null) {
    problems.push({
      field: 'after',
      message: got('must be a cursor of this list, with the same order and filters', after),
    });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return { ...list, pageSize, after: position ?? null };
}

@ArgsType()
export class FollowedPetArgs {
  @Field(() => String, {
    nullable: true,
    description:
      'Only changes behind this cursor, of a change or from `changesCursor`. A cursor that the log does not reach any more is refused with `GONE`: list again, and follow from the `changesCursor` of that list.',
  })
  after?: string | null;

  @Field(() => PetStatusEnum, {
    nullable: true,
    description: 'Only changes of pets that have this status, or had it before the change.',
  })
  status?: PetStatus | null;
}

@ArgsType()
export class PetChangeArgs extends FollowedPetArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: MAX_PAGE_SIZE,
    description: `How many changes: 1 to ${MAX_PAGE_SIZE}.`,
  })
  first?: number | null;
}

/** The changes that a client wants. Throws `AppError invalid_request`. */
export function parseChangeArgs({ first, after = null, status }: PetChangeArgs): ChangesRequest<Pet> {
  const pageSize = first ?? MAX_PAGE_SIZE;
  const problems = problemsOf({ first: pageSize });
  if (problems.length > 0) throw invalidRequest(problems);
  return { after, field: 'after', pageSize, matches: hasStatus(status) };
}

/** Each once, ascending. A text that is no 64-bit integer identifies no pet. */
function identifiers(texts: readonly string[]): bigint[] {
  const ids = new Set(texts.map(parseInt64).filter((id) => id !== null));
  return [...ids].sort((a, b) => (a < b ? -1 : 1));
}
