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
import { openApiDocument } from '../../../src/doors/rest/document/openapi.js';
import { documentOf } from '../../../src/noun/rest/noun.document.js';
import { ownNames } from '../../../src/request/http/headers.js';
import { toys } from '../nouns/toys.js';

interface NewToy {
  name: string;
  categoryId: bigint;
  status?: 'available' | 'pending' | 'sold';
}

interface Toy extends NewToy {
  id: bigint;
}

interface ToyChange {
  cursor: string;
  kind: 'created' | 'updated' | 'deleted';
  toy: Toy;
}

/** The part of the generated types that these tests use. `Types-1` compiles the whole. */
interface ToysApi {
  toys: {
    list(query?: { status?: Toy['status']; limit?: number }, options?: CallOptions): Promise<Toy[]>;
    all(query?: { status?: Toy['status']; limit?: number }, options?: CallOptions): Pages<Toy>;
    create(body: NewToy, options?: CallOptions): Promise<Toy>;
    get(toyId: bigint, options?: CallOptions): Promise<Toy>;
    changes(query?: { after?: string; limit?: number }, options?: FollowOptions): Changes<ToyChange>;
  };
  getRateLimit(options?: CallOptions): Promise<{ ban: { strikes: number; untilSeconds: number | null } }>;
}

/** The OpenAPI document of a gateway of toys. */
export function toysDocument(): object {
  const gateway = { name: 'Toys', slug: 'toys', nouns: [toys.description] } as const;
  const reads = { hasOne: true, hasLocation: true };
  const ofToys = documentOf(toys.model, reads, ownNames(gateway.slug));
  return openApiDocument(gateway, [{ url: 'https://toys.example.com/v1' }], [ofToys]);
}

/** A client of the toys of a gateway, with the description that `petstore types` makes of its document. */
export function toysClient(
  gatewayUrl: string,
  apiKey: string,
  options: Partial<ClientOptions> = {},
): ToysApi {
  const description = JSON.parse(generated(toysDocument()).description);
  return createClient(description as Description<ToysApi>, {
    baseUrl: `${gatewayUrl}/v1`,
    apiKey,
    ...options,
  });
}
