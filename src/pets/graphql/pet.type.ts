import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType } from 'type-graphql';
import {
  COUNTED_BY_FIRST,
  describedEnum,
  Entries,
  PlainType,
} from '../../doors/graphql/operations/type-options.js';
import { changeTypes } from '../../doors/graphql/schema/lists/change.type.js';
import { NodesPageInfo, PageInfoType } from '../../doors/graphql/schema/lists/page.js';
import { NAME } from '../../ground/kernel/validation.js';
import { PET } from '../pet.description.js';
import type { Pet, PetStatus } from '../pet.entity.js';
import { type ListedPet, PetCursors, type PetListRequest, type PetPage } from '../pet-list.js';

export const PetStatusEnum = describedEnum<PetStatus>('PetStatus', 'Availability status.', {
  available: 'Can be adopted.',
  pending: 'An adoption is in progress.',
  sold: 'Has been adopted.',
});

@PlainType('Pet', 'A pet.')
export class PetType {
  @Field(() => ID, { description: 'Unique identifier assigned on creation: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: "The pet's name." })
  name!: string;

  @Field(() => ID, {
    description: 'Identifier of the category the pet belongs to: the digits of a 64-bit integer.',
  })
  categoryId!: string;

  @Field(() => PetStatusEnum, {
    nullable: true,
    description: 'Availability status; null when none was set.',
  })
  status!: PetStatus | null;

  @Field(() => GraphQLDateTime, { description: 'When the pet was added.' })
  createdAt!: Date;
}

@PlainType('PetEdge', 'A pet and its position in the list.')
export class PetEdgeType {
  @Field(() => String, { description: 'The position of this pet, for `after`.' })
  cursor!: string;

  @Field(() => PetType, { description: 'The pet.' })
  node!: PetType;
}

@PlainType('PetConnection', 'A page of pets, in the order of the list.')
export class PetConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [PetEdgeType], { description: 'The pets with their cursors.' })
  edges!: PetEdgeType[];

  @Entries(COUNTED_BY_FIRST)
  @Field(() => [PetType], { description: 'The pets without cursors.' })
  nodes!: PetType[];

  @Field(() => PageInfoType, { description: 'The position of the page in the list.' })
  pageInfo!: PageInfoType;

  @Field(() => String, {
    nullable: true,
    description:
      'Follow `petChanges` from here: its changes are those after this page was read. Null while the change log of the project is off.',
  })
  changesCursor!: string | null;
}

@PlainType('DeletedPet', 'The result of `deletePet`. A deleted pet cannot be restored.')
export class DeletedPetType {
  @Field(() => ID, { description: 'The identifier that the pet had, such as `4711`; no other pet gets it.' })
  id!: string;
}

@InputType('NewPet', {
  description: 'A pet to create, for example `{name: "Rex", categoryId: "1", status: available}`.',
})
export class NewPetInput {
  @Field(() => String, { description: `Its name: 1 to ${NAME.maxLength} characters.` })
  name!: string;

  @Field(() => ID, { description: 'Identifier of its category: the digits of a 64-bit integer.' })
  categoryId!: string;

  @Field(() => PetStatusEnum, { nullable: true, description: 'Its availability status.' })
  status?: PetStatus | null;
}

@InputType('PetChanges', {
  description: 'Changes to a pet; a field left out stays as it is. For example `{status: sold}`.',
})
export class PetChangesInput {
  @Field(() => String, {
    nullable: true,
    description: `Its new name: 1 to ${NAME.maxLength} characters, never null.`,
  })
  name?: string | null;

  @Field(() => ID, { nullable: true, description: 'Its new category, never null.' })
  categoryId?: string | null;

  @Field(() => PetStatusEnum, { nullable: true, description: 'Its new status; null removes the status.' })
  status?: PetStatus | null;
}

/** graphql's ID can't serialize a bigint, and a JavaScript client could not read one. */
export function presentPet(pet: Pet): PetType {
  return {
    id: String(pet.id),
    name: pet.name,
    categoryId: String(pet.categoryId),
    status: pet.status,
    createdAt: new Date(pet.createdAtMs),
  };
}

export const PET_CHANGES = changeTypes(PET, PetType, presentPet);

/*
 * Values are created only when they are read: a page has up to a hundred pets. The getters belong to classes. A getter in
 * an object literal gives each object its own hidden class. V8 keeps that class, with everything that the getter
 * references, until the next full collection. D-48.
 */

class ListedPetType implements PetType {
  constructor(
    private readonly row: ListedPet,
    private readonly cursors: PetCursors,
  ) {}

  get id() {
    return this.row.id;
  }

  get name() {
    return this.row.name;
  }

  get categoryId() {
    return this.row.categoryId;
  }

  get status() {
    return this.row.status;
  }

  get createdAt() {
    return new Date(Number(this.row.createdAtMs));
  }

  /** Each pet is its own edge. */
  get node() {
    return this;
  }

  get cursor() {
    const { id, name } = this.row;
    return this.cursors.encode({ id, text: name });
  }
}

/** `list` is the page's request. */
export function presentPage(page: PetPage, list: PetListRequest): PetConnectionType {
  const { pets, hasNextPage, changesCursor } = page;
  const cursors = new PetCursors(list);
  const nodes = pets.map((row) => new ListedPetType(row, cursors));
  const pageInfo = new NodesPageInfo(nodes, list.after !== null, hasNextPage);
  return { nodes, edges: nodes, pageInfo, changesCursor };
}
