import { withDrawnIds } from '../ground/database/drawn-id.js';
import {
  type Caller,
  hasOpenLog,
  requireAnswerable,
  requireScope,
  type ServiceCall,
} from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import type { ChangePage, ChangeStream, ChangesRequest } from '../ground/records/noun-changes.js';
import type { Alongside } from '../ground/records/record-table.js';
import {
  type Creation,
  creationCodec,
  ID_CODEC,
  type IdempotencyService,
  objectCodec,
} from '../tenants/idempotency/idempotency.service.js';
import { PET } from './pet.description.js';
import type { Pet } from './pet.entity.js';
import { GET_PET_DEPRECATION, type NewPet, type PetChanges } from './pet.rules.js';
import type { PetStore } from './pet.store.js';
import type { PetListRequest, PetPage } from './pet-list.js';

/** Pets of the caller's project. For the caller, pets of other projects do not exist. */
export class PetService {
  constructor(
    private readonly store: PetStore,
    private readonly ids: IdGenerator,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** A page of pets: one query, of one range of an index also for late pages. Throws `AppError forbidden`. Spec: listPets. */
  async list({ caller }: ServiceCall, wanted: PetListRequest): Promise<PetPage> {
    requireScope(caller, 'pets:read');
    return this.store.page(caller.projectId, { ...wanted, isFollowed: hasOpenLog(caller, this.now()) });
  }

  /** The next changes of pets. Throws `AppError forbidden`, and what `NounChanges.page` throws. */
  async changes({ caller }: ServiceCall, wanted: ChangesRequest<Pet>): Promise<ChangePage<Pet>> {
    requireScope(caller, 'pets:read');
    return this.store.changes.page(caller, wanted);
  }

  /** A live stream of changes. Throws as `changes`. */
  async followChanges({ caller }: ServiceCall, wanted: ChangesRequest<Pet>): Promise<ChangeStream<Pet>> {
    requireScope(caller, 'pets:read');
    return this.store.changes.follow(caller, wanted);
  }

  /** How many pets the list has, up to its page size. Throws `AppError forbidden`. */
  async count({ caller }: ServiceCall, wanted: PetListRequest): Promise<number> {
    requireScope(caller, 'pets:read');
    return this.store.count(caller.projectId, wanted);
  }

  /** Throws `AppError forbidden`, `not_found`, and after the sunset `gone`. Spec: getPet. */
  async get({ caller }: ServiceCall, id: bigint): Promise<Pet> {
    this.requireGettable(caller);
    return (await this.store.find(caller.projectId, id)) ?? refuseUnknownPet(id);
  }

  /** As `get`, for several pets with one query; unknown ids are left out. */
  async getAll({ caller }: ServiceCall, ids: readonly bigint[]): Promise<Map<bigint, Pet>> {
    this.requireGettable(caller);
    const found = await this.store.findAll(caller.projectId, ids);
    return new Map(found.map((pet) => [pet.id, pet]));
  }

  /** Creates a pet; a repeated Idempotency-Key returns the first answer. Throws `AppError forbidden`. Spec: createPet. */
  create({ caller, idempotencyKey }: ServiceCall, pet: NewPet): Promise<Pet> {
    requireScope(caller, 'pets:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'createPet', input: [pet.name, pet.categoryId, pet.status] },
      async (complete) => {
        const alongside: Alongside<Pet[]> =
          complete && ((manager, [created]) => complete(manager, created as Pet));
        const [created] = await this.insert(caller, [pet], alongside);
        return created as Pet;
      },
      PET_CODEC,
    );
  }

  /**
   * Creates all of the pets or none, and returns them in the same order; a repeated Idempotency-Key returns the first
   * answer. Throws `AppError forbidden`.
   */
  createAll({ caller, idempotencyKey }: ServiceCall, pets: readonly NewPet[]): Promise<Pet[]> {
    requireScope(caller, 'pets:write');
    const input = pets.flatMap(({ name, categoryId, status }) => [name, categoryId, status]);
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'createPets', input },
      (complete) => this.insert(caller, pets, complete),
      creationCodec((creation) => rowsOf(caller.projectId, pets, creation)),
    );
  }

  /**
   * `answered` are the fields of the answer. Without the scope `pets:read`, only `id` and the fields of `changes` are allowed.
   * Throws `AppError forbidden`, `AppError not_found`.
   */
  update(
    { caller, idempotencyKey }: ServiceCall,
    id: bigint,
    changes: PetChanges,
    answered: Iterable<string>,
  ): Promise<Pet> {
    requireAnswerable(caller, PET.plural, { changes, fields: answered });
    requireScope(caller, 'pets:write');
    const { name, categoryId, status } = changes;
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'updatePet', input: [id, name, categoryId, status] },
      async (complete) => (await this.store.update(caller, id, changes, complete)) ?? refuseUnknownPet(id),
      PET_CODEC,
    );
  }

  /**
   * Deletes a pet and returns its id; a repeated Idempotency-Key deletes nothing. Throws `AppError forbidden`,
   * `AppError not_found`.
   */
  delete({ caller, idempotencyKey }: ServiceCall, id: bigint): Promise<bigint> {
    requireScope(caller, 'pets:write');
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'deletePet', input: [id] },
      async (complete) => ((await this.store.delete(caller, id, complete)) ? id : refuseUnknownPet(id)),
      ID_CODEC,
    );
  }

  private insert(caller: Caller, pets: readonly NewPet[], alongside: Alongside<Pet[]>): Promise<Pet[]> {
    return withDrawnIds(this.ids, pets.length, async (ids) => {
      const created = rowsOf(caller.projectId, pets, { ids, createdAtMs: this.now() });
      await this.store.insertAll(caller, created, alongside);
      return created;
    });
  }

  private requireGettable(caller: Caller): void {
    requireScope(caller, 'pets:read');
    if (this.now() < GET_PET_DEPRECATION.sunsetAtMs) return;
    const replacement =
      'Use GET /v1/pets with a status filter, or over GraphQL pets(ids: […]), which reads pets by their identifiers.';
    throw new AppError(
      'gone',
      `Reading one pet was removed on ${GET_PET_DEPRECATION.sunsetDate}. ${replacement}`,
    );
  }
}

export function refuseUnknownPet(id: bigint): never {
  throw new AppError('not_found', `There is no pet ${id}.`);
}

const PET_CODEC = objectCodec<Pet>('projectId', 'id', 'categoryId');

/** The rows of new pets, which have these ids in their order. */
function rowsOf(projectId: bigint, pets: readonly NewPet[], { ids, createdAtMs }: Creation): Pet[] {
  return pets.map((pet, at) => ({ projectId, id: ids[at] as bigint, ...pet, createdAtMs }));
}
