import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { PET_STATUSES, type Pet, type PetStatus } from '../pets/pet.entity.js';
import type { ListedPet, PetPage } from '../pets/pet.store.js';
import { encodeCursor } from '../pets/pet-cursor.js';
import { COUNTED_BY_FIRST, Entries } from './entries.js';
import { PLAIN } from './plain.js';

export const PetStatusEnum = Object.fromEntries(PET_STATUSES.map((status) => [status, status]));

registerEnumType(PetStatusEnum, {
  name: 'PetStatus',
  description: 'Availability status.',
  valuesConfig: {
    available: { description: 'Can be adopted.' },
    pending: { description: 'An adoption is under way.' },
    sold: { description: 'Has been adopted.' },
  },
});

@ObjectType('Pet', { description: 'An animal.', ...PLAIN })
export class PetType {
  @Field(() => ID, { description: 'Unique identifier assigned on creation: the digits of a 64-bit integer.' })
  id!: string;

  @Field(() => String, { description: "The animal's name." })
  name!: string;

  @Field(() => ID, {
    description: 'Identifier of the category the animal belongs to: the digits of a 64-bit integer.',
  })
  categoryId!: string;

  @Field(() => PetStatusEnum, {
    nullable: true,
    description: 'Availability status; null when none was stated.',
  })
  status!: PetStatus | null;

  @Field(() => GraphQLDateTime, { description: 'When the animal was added.' })
  createdAt!: Date;
}

@ObjectType('PetEdge', { description: 'A pet and its position in the list.', ...PLAIN })
export class PetEdgeType {
  @Field(() => String, { description: 'The position of this pet, for `after`.' })
  cursor!: string;

  @Field(() => PetType, { description: 'The pet.' })
  node!: PetType;
}

@ObjectType('PageInfo', { description: 'Where a page lies in its list. Relay connections.', ...PLAIN })
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether more pets follow.' })
  hasNextPage!: boolean;

  @Field(() => Boolean, { description: 'Whether the page was asked for with `after`.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'The cursor of the first pet; null on an empty page.' })
  startCursor!: string | null;

  @Field(() => String, { nullable: true, description: 'The cursor of the last pet; null on an empty page.' })
  endCursor!: string | null;
}

@ObjectType('PetConnection', { description: 'A page of pets, oldest first.', ...PLAIN })
export class PetConnectionType {
  @Entries(COUNTED_BY_FIRST)
  @Field(() => [PetEdgeType], { description: 'The pets with their cursors.' })
  edges!: PetEdgeType[];

  @Entries(COUNTED_BY_FIRST)
  @Field(() => [PetType], { description: 'The pets alone.' })
  nodes!: PetType[];

  @Field(() => PageInfoType, { description: 'Where the page lies in the list.' })
  pageInfo!: PageInfoType;
}

@InputType('NewPet', { description: 'An animal to create.' })
export class NewPetInput {
  @Field(() => String, { description: 'Its name: 1 to 255 characters.' })
  name!: string;

  @Field(() => ID, { description: 'Identifier of its category: the digits of a 64-bit integer.' })
  categoryId!: string;

  @Field(() => PetStatusEnum, { nullable: true, description: 'Its availability status.' })
  status?: PetStatus | null;
}

@InputType('PetChanges', { description: 'What to change of an animal; a field left out stays as it is.' })
export class PetChangesInput {
  @Field(() => String, { nullable: true, description: 'Its new name: 1 to 255 characters, never null.' })
  name?: string | null;

  @Field(() => ID, { nullable: true, description: 'Its new category, never null.' })
  categoryId?: string | null;

  @Field(() => PetStatusEnum, { nullable: true, description: 'Its new status; null takes the status away.' })
  status?: PetStatus | null;
}

/** graphql's ID can't serialise a bigint, and a client in JavaScript could not read one. */
export function presentPet(pet: Pet): PetType {
  return {
    id: String(pet.id),
    name: pet.name,
    categoryId: String(pet.categoryId),
    status: pet.status,
    createdAt: new Date(pet.createdAtMs),
  };
}

/*
 * What is not asked for is not made: a page has up to a hundred pets. The getters are those of classes. One in an object
 * literal gives each object a hidden class of its own, which V8 keeps, with all that the getter sees, until the next full
 * collection.
 */

class ListedPetType implements PetType {
  constructor(private readonly row: ListedPet) {}

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

  /** Each is its own edge. */
  get node() {
    return this;
  }

  get cursor() {
    return encodeCursor(this.row.id);
  }
}

class ListedPageInfo implements PageInfoType {
  constructor(
    private readonly nodes: readonly ListedPetType[],
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

export function presentPage({ pets, hasNextPage }: PetPage, isContinued: boolean): PetConnectionType {
  const nodes = pets.map((row) => new ListedPetType(row));
  return { nodes, edges: nodes, pageInfo: new ListedPageInfo(nodes, isContinued, hasNextPage) };
}
