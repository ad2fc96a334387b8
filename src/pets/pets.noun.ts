import type { Noun } from '../noun.js';
import { seedPets } from './pet.demo.js';
import { PET } from './pet.description.js';
import { Pet } from './pet.entity.js';
import { PET_RULES } from './pet.rules.js';
import { PetService } from './pet.service.js';
import { PetStore } from './pet.store.js';
import { Pets1780000001000 } from './pets.migration.js';

/** Pets, as the platform sees them. */
export const pets: Noun = {
  description: PET,
  entities: [Pet],
  migrations: [Pets1780000001000],
  open({ db, ids, idempotency, versions, changes, now }) {
    const service = new PetService(new PetStore(Pet, db, versions, changes), ids, idempotency, now);
    return {
      service,
      files: { description: PET, entity: Pet, parse: (input) => PET_RULES.parse(input) },
      seedDemo: (call) => seedPets(service, call),
      async openDoors() {
        const { PetResolver } = await import('./graphql/pet.resolver.js');
        const { petsRoutes } = await import('./rest/pets.routes.js');
        return {
          plural: PET.plural,
          resolver: new PetResolver(service),
          routes: (app, baseUrl) => petsRoutes(app, service, baseUrl),
        };
      },
    };
  },
  async contract() {
    const { PetResolver } = await import('./graphql/pet.resolver.js');
    const { PETS_DOCUMENT } = await import('./rest/pets.document.js');
    return { plural: PET.plural, resolver: PetResolver, rest: PETS_DOCUMENT };
  },
};
