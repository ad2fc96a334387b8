import type { ListOrder } from '../../../src/ground/kernel/validation.js';
import type { RecordOf } from '../../../src/noun/define-noun.js';
import { NounService } from '../../../src/noun/records/noun.service.js';
import { NounCursors, type NounList } from '../../../src/noun/records/noun-list.js';
import { pets } from '../../../src/pets/pets.js';
import type { TestApp } from '../start-app.js';

/** The table of pets. */
export const Pet = pets.entity;
export type Pet = RecordOf<typeof pets>;
export type PetStatus = NonNullable<Pet['status']>;
export const PET_STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

export interface WantedPets {
  status?: PetStatus | null;
  nameStartsWith?: string | null;
  ids?: readonly bigint[] | null;
  orderBy?: ListOrder;
}

/** A list of pets, as the service reads it. */
export function petList({
  status = null,
  nameStartsWith = null,
  ids = null,
  orderBy = 'OLDEST',
}: WantedPets): NounList {
  const [filter] = pets.model.starts;
  const start = filter && nameStartsWith !== null ? { filter, prefix: nameStartsWith } : null;
  return { wholes: [status], start, ids, orderBy };
}

export const petCursors = (wanted: WantedPets) => new NounCursors(pets.model, petList(wanted));

/** The service of pets that both doors of the app use. */
export function petServiceOf({ app }: Pick<TestApp, 'app'>): NounService {
  const [noun] = app.services.nouns;
  if (!(noun?.service instanceof NounService)) throw new Error('the app serves no pets');
  return noun.service;
}
