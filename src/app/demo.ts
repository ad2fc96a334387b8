import { SCOPES } from '../ground/kernel/caller.js';
import { AppError } from '../ground/kernel/errors.js';
import type { PetStatus } from '../pets/pet.entity.js';
import type { Services } from './services.js';

const DEMO_SLUG = 'demo';

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

/** Creates the demo project with its pets. Returns its key, once; null when the project already exists. */
export async function seedDemo({ projects, apiKeys, pets }: Services): Promise<string | null> {
  const actor = { name: 'demo', requestId: null };
  try {
    const project = await projects.create(actor, {
      slug: DEMO_SLUG,
      name: 'Demo pet store',
      plan: 'PRO',
      perMinute: null,
      perDay: null,
    });
    const { token } = await apiKeys.create(actor, {
      projectId: project.id,
      name: 'demo',
      scopes: SCOPES,
      expiresAtMs: null,
    });
    const caller = await apiKeys.identify(token);
    if (!caller) throw new Error('the demo key was not accepted');
    for (const [name, categoryId, status] of PETS)
      await pets.create({ caller, actor, idempotencyKey: null }, { name, categoryId, status });
    return token;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return null;
    throw error;
  }
}
