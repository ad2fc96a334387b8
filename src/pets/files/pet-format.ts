export const PET_FORMATS = ['csv', 'ndjson'] as const;
export type PetFormat = (typeof PET_FORMATS)[number];

/** The format that a file's name says; null = none. */
export function formatOfName(path: string): PetFormat | null {
  if (/\.csv$/i.test(path)) return 'csv';
  return /\.(ndjson|jsonl)$/i.test(path) ? 'ndjson' : null;
}
