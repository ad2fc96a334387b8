import { type Caller, requireScope } from '../caller.js';
import { withDrawnId } from '../database/drawn-id.js';
import { AppError } from '../errors.js';
import type { IdempotencyService, Reservation } from '../idempotency/idempotency.service.js';
import type { IdGenerator } from '../ids.js';
import { GET_PET_DEPRECATION } from './get-pet-deprecation.js';
import type { Pet } from './pet.entity.js';
import type { NewPet, PetChanges } from './pet.rules.js';
import type { PetListRequest, PetPage, PetStore } from './pet.store.js';

/** Pets of the caller's project, and of no other: to the caller, those of others do not exist. */
export class PetService {
  constructor(
    private readonly store: PetStore,
    private readonly ids: IdGenerator,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  /** One query, by index, however far the page. Throws `AppError forbidden`. Spec: listPets. */
  async list(caller: Caller, wanted: PetListRequest): Promise<PetPage> {
    requireScope(caller, 'pets:read');
    return this.store.page(caller.projectId, wanted);
  }

  /** Throws `AppError forbidden`, `not_found`, and `gone` from the sunset on. Spec: getPet. */
  async get(caller: Caller, id: bigint): Promise<Pet> {
    this.requireGettable(caller);
    return this.find(caller, id);
  }

  /** As `get`, for several with one query; an unknown one is left out. */
  async getAll(caller: Caller, ids: readonly bigint[]): Promise<Map<bigint, Pet>> {
    this.requireGettable(caller);
    const found = await this.store.findAll(caller.projectId, ids);
    return new Map(found.map((pet) => [pet.id, pet]));
  }

  /** One insert. With an Idempotency-Key, the first answer again. Throws `AppError forbidden`. Spec: createPet. */
  create(caller: Caller, pet: NewPet, idempotencyKey: string | null): Promise<Pet> {
    requireScope(caller, 'pets:write');
    if (idempotencyKey === null) return this.insert(caller, pet);
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'createPet', input: [pet.name, pet.categoryId, pet.status] },
      (reservation) => this.insertOnce(caller, pet, reservation),
      PET_JSON,
    );
  }

  /** Throws `AppError forbidden`, `AppError not_found`. */
  update(caller: Caller, id: bigint, changes: PetChanges, idempotencyKey: string | null): Promise<Pet> {
    requireScope(caller, 'pets:write');
    const { name, categoryId, status } = changes;
    if (idempotencyKey === null) return this.change(caller, id, changes);
    return this.idempotency.once(
      { caller, key: idempotencyKey, operation: 'updatePet', input: [id, name, categoryId, status] },
      () => this.change(caller, id, changes),
      PET_JSON,
    );
  }

  private insert(caller: Caller, pet: NewPet): Promise<Pet> {
    return withDrawnId(this.ids, (id) => this.insertAs(caller, pet, id));
  }

  private async insertOnce(caller: Caller, pet: NewPet, reservation: Reservation): Promise<Pet> {
    const created = await reservation.create((id) => this.insertAs(caller, pet, id));
    return created ?? this.find(caller, reservation.id);
  }

  private async insertAs(caller: Caller, pet: NewPet, id: bigint): Promise<Pet> {
    const row = { projectId: caller.projectId, id, ...pet, createdAtMs: this.now() };
    await this.store.insert(row);
    return row;
  }

  private async change(caller: Caller, id: bigint, changes: PetChanges): Promise<Pet> {
    await this.store.update(caller.projectId, id, changes);
    return this.find(caller, id);
  }

  private requireGettable(caller: Caller): void {
    requireScope(caller, 'pets:read');
    if (this.now() < GET_PET_DEPRECATION.sunsetAtMs) return;
    const replacement = 'List the pets with a status filter instead.';
    throw new AppError(
      'gone',
      `Reading one pet was removed on ${GET_PET_DEPRECATION.sunsetDate}. ${replacement}`,
    );
  }

  private async find(caller: Caller, id: bigint): Promise<Pet> {
    return (await this.store.find(caller.projectId, id)) ?? refuseUnknownPet(id);
  }
}

export function refuseUnknownPet(id: bigint): never {
  throw new AppError('not_found', `There is no pet ${id}.`);
}

/** How a pet is kept as the answer to an Idempotency-Key. */
const PET_JSON = {
  write: (pet: Pet) =>
    JSON.stringify(pet, (_, value) => (typeof value === 'bigint' ? String(value) : (value as unknown))),
  read: (json: string): Pet => {
    const pet = JSON.parse(json);
    return {
      ...pet,
      projectId: BigInt(pet.projectId),
      id: BigInt(pet.id),
      categoryId: BigInt(pet.categoryId),
    };
  },
};
