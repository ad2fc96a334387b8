import type { SeenRecord } from '../evidence.js';

export const STATUSES = ['available', 'pending', 'sold'] as const;

/** A project whose changes are followed. */
export interface FollowedProject {
  readonly slug: string;
  readonly projectId: bigint;
  readonly token: string;
}

/** A pet as GraphQL shows it, in the fields of `PET_FIELDS`. */
export interface ShownPet {
  readonly id: string;
  readonly name: string;
  readonly categoryId: string;
  readonly status: string | null;
  readonly createdAt: string;
}

export const PET_FIELDS = 'id name categoryId status createdAt';

export function seenPet({ id, name, categoryId, status, createdAt }: ShownPet): SeenRecord {
  return { id, status, text: JSON.stringify([id, name, categoryId, status, createdAt]) };
}
