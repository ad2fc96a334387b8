import type { SeenRecord } from '../evidence.js';

export const STATUSES = ['available', 'pending', 'sold'] as const;

/** A project whose changes are followed. */
export interface FollowedProject {
  readonly slug: string;
  readonly projectId: bigint;
  readonly token: string;
}

/** A toy as GraphQL shows it, in the fields of `TOY_FIELDS`. */
export interface ShownToy {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string | null;
  readonly createdAt: string;
}

export const TOY_FIELDS = 'id name categoryId status createdAt';

export function seenToy({ id, name, categoryId, status, createdAt }: ShownToy): SeenRecord {
  return { id, status, text: JSON.stringify([id, name, categoryId, status, createdAt]) };
}
