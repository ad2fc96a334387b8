import { PET } from './pets/pet.description.js';

/** What the platform says about a noun, in texts, files and pages. */
export interface NounDescription {
  /** As in `createBook`, in messages and in cursors. */
  readonly singular: string;
  /** Its path in REST, its root field in GraphQL, its command, and the start of its scopes: `books:read`. */
  readonly plural: string;
  /** Its type in GraphQL, such as `Book`. */
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

/** The noun of examples that need only one. */
export const FIRST_NOUN = NOUNS[0] as NounDescription;

/** The operation of REST that lists the first noun. */
export const LIST_OPERATION = `list${titleOf(FIRST_NOUN.plural)}`;

/** As in `Requests for books`; several nouns are joined by `and`. */
export const NOUN_WORDS = new Intl.ListFormat('en').format(NOUNS.map(({ plural }) => plural));

/** `Books` for `books`. */
function titleOf(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
