import type { ServiceCall } from '../ground/kernel/caller.js';
import type { PetStatus } from './pet.entity.js';
import type { PetService } from './pet.service.js';

/** Creates the pets of the demo project. */
export async function seedPets(pets: PetService, call: ServiceCall): Promise<void> {
  for (const [name, categoryId, status] of PETS) await pets.create(call, { name, categoryId, status });
}

const PETS: readonly [name: string, categoryId: bigint, status: PetStatus | null][] = [
  ['Bella', 1n, 'available'],
  ['Max', 1n, 'available'],
  ['Luna', 2n, 'available'],
  ['Charlie', 1n, 'pending'],
  ['Oliver', 2n, 'available'],
  ['Daisy', 1n, 'sold'],
  ['Milo', 2n, 'available'],
  ['Rosie', 3n, 'available'],
  ['Coco', 4n, 'available'],
  ['Buddy', 1n, 'sold'],
  ['Nala', 2n, 'pending'],
  ['Rocky', 1n, 'available'],
  ['Pepper', 3n, 'available'],
  ['Simba', 2n, 'sold'],
  ['Lola', 1n, 'available'],
  ['Kiwi', 4n, 'available'],
  ['Oscar', 2n, 'available'],
  ['Ruby', 1n, 'pending'],
  ['Toby', 1n, 'available'],
  ['Hazel', 3n, 'available'],
  ['Mochi', 2n, null],
  ['Biscuit', 3n, 'sold'],
  ['Zoë', 4n, 'available'],
  ['Shelly', 5n, 'available'],
];
