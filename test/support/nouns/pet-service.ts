import { PetService } from '../../../src/pets/pet.service.js';
import type { TestApp } from '../start-app.js';

/** The service of pets that both doors of the app use. */
export function petServiceOf({ app }: Pick<TestApp, 'app'>): PetService {
  const service = app.services.nouns.map((noun) => noun.service).find((each) => each instanceof PetService);
  if (!(service instanceof PetService)) throw new Error('the app serves no pets');
  return service;
}
