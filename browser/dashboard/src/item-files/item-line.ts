import { type NounDescription, readableFieldsOf } from '../../../nouns.js';
import { csvLine } from '../files/csv-line.js';
import { type Item, textIn } from '../items/item.js';

/** The first line of the file, as the command `petstore <nouns> export` writes it. */
export function headerLineOf(noun: NounDescription): string {
  return `${csvLine(['id', ...readableFieldsOf(noun).map(({ name }) => name)])}\n`;
}

export function itemLineOf(noun: NounDescription, item: Item): string {
  return `${csvLine([item.id, ...readableFieldsOf(noun).map((field) => textIn(item, field))])}\n`;
}
