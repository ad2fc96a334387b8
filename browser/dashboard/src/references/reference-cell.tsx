import type { NounField } from '../../../nouns.js';
import { type Item, textIn } from '../items/item.js';
import { Link } from '../routing/link.js';
import { nameIn, pageOf } from './reference-names.js';

/** The name of the record that an item refers to, or its identifier. */
export function ReferenceCell({ item, field }: { item: Item; field: NounField }) {
  const other = field.reference?.to;
  const name = nameIn(item, field);
  const id = textIn(item, field);
  if (!other || name === null) return <code>{id}</code>;
  const page = pageOf(other, name);
  return page === null ? (
    <bdi title={id}>{name}</bdi>
  ) : (
    <Link to={page}>
      <bdi title={id}>{name}</bdi>
    </Link>
  );
}
