import { readFileSync } from 'node:fs';
import {
  type CallOptions,
  type Changes,
  type ClientOptions,
  createClient,
  type FollowOptions,
  type Pages,
} from '../../../client/client.js';
import type { Description } from '../../../client/description.js';
import { generated } from '../../../src/cli/types/generated-file.js';

interface NewPet {
  name: string;
  categoryId: bigint;
  status?: 'available' | 'pending' | 'sold';
}

interface Pet extends NewPet {
  id: bigint;
}

interface PetChange {
  cursor: string;
  kind: 'created' | 'updated' | 'deleted';
  pet: Pet;
}

/** The part of the generated types that these tests use. `Types-1` compiles the whole. */
interface PetsApi {
  pets: {
    list(query?: { status?: Pet['status']; limit?: number }, options?: CallOptions): Promise<Pet[]>;
    all(query?: { status?: Pet['status']; limit?: number }, options?: CallOptions): Pages<Pet>;
    create(body: NewPet, options?: CallOptions): Promise<Pet>;
    get(petId: bigint, options?: CallOptions): Promise<Pet>;
    changes(query?: { after?: string; limit?: number }, options?: FollowOptions): Changes<PetChange>;
  };
  getRateLimit(options?: CallOptions): Promise<{ ban: { strikes: number; untilSeconds: number | null } }>;
}

const DOCUMENT = 'schema/openapi.json';

/** A client of the pets of a gateway, with the description that `petstore types` makes of the contract. */
export function petsClient(
  gatewayUrl: string,
  apiKey: string,
  options: Partial<ClientOptions> = {},
): PetsApi {
  const description = JSON.parse(generated(JSON.parse(readFileSync(DOCUMENT, 'utf8'))).description);
  return createClient(description as Description<PetsApi>, {
    baseUrl: `${gatewayUrl}/v1`,
    apiKey,
    ...options,
  });
}
