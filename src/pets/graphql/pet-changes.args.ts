import { ArgsType, Field, Int } from 'type-graphql';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { MAX_PAGE_SIZE, pageSizeSchema, validator } from '../../ground/kernel/validation.js';
import type { ChangesRequest } from '../../ground/records/noun-changes.js';
import type { Pet, PetStatus } from '../pet.entity.js';
import { hasStatus } from '../pet.rules.js';
import { PetStatusEnum } from './pet.type.js';

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

const problemsOf = validator({ type: 'object', properties: { first: pageSizeSchema('changes') } });

/** Throws `AppError invalid_request`. */
export function parseChangeArgs({ first, after, status }: PetChangeArgs): {
  wanted: ChangesRequest<Pet>;
  pageSize: number;
} {
  const pageSize = first ?? MAX_PAGE_SIZE;
  const problems = problemsOf({ first: pageSize });
  if (problems.length > 0) throw invalidRequest(problems);
  return { wanted: { after: after ?? null, field: 'after', matches: hasStatus(status) }, pageSize };
}
