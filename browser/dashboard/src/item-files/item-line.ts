import type { NounDescription } from '../../../nouns.js';
import { csvLine } from '../files/csv-line.js';
import { type Item, textIn } from '../items/item.js';

/** The first line of the file, as the command `petstore <nouns> export` writes it. */
export function headerLineOf({ fields }: NounDescription): string {
  return `${csvLine(['id', ...fields.map(({ name }) => name)])}\n`;
}

export function itemLineOf({ fields }: NounDescription, item: Item): string {
  return `${csvLine([item.id, ...fields.map((field) => textIn(item, field))])}\n`;
}
