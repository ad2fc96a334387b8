import { PET } from './pets/pet.description.js';

/** What the platform says about a noun, in texts, files and pages. */
export interface NounDescription {
  /** As in `createPet`, in messages and in cursors. */
  readonly singular: string;
  /** Its path in REST, its root field in GraphQL, its command, and the start of its scopes: `pets:read`. */
  readonly plural: string;
  /** Its type in GraphQL, such as `Pet`. */
  readonly type: string;
  /** The fields that a client states, in the order of their columns. */
  readonly fields: readonly NounField[];
}

interface NounField {
  /** As in both doors, and as the column of its files. */
  readonly name: string;
  /** For people, such as the head of a column. */
  readonly label: string;
  /** `date` is text such as `2026-11-24`; a `choice` is an enum of GraphQL. */
  readonly kind: 'text' | 'int64' | 'integer' | 'date' | 'choice';
  readonly isRequired: boolean;
  /** Of text, in characters. */
  readonly maxLength?: number;
  readonly choices?: readonly string[];
  readonly hint?: string;
  readonly example: string;
}

/** The nouns behind this gateway. A second noun is a second entry. */
export const NOUNS: readonly NounDescription[] = [PET];

/** As in `Requests for pets`; several nouns are joined by `and`. */
export const NOUN_WORDS = new Intl.ListFormat('en').format(NOUNS.map(({ plural }) => plural));
