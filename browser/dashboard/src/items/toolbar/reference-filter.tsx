import { ReferenceInput } from '../../references/reference-input.js';
import { useSession } from '../../session/signed-in.js';
import { scopeOf } from '../item.js';
import { SearchField } from './search-field.js';
import { type TypedFilter, useTypedFilter } from './use-typed-filter.js';

/** Filters by the record that is chosen. */
export function ReferenceFilter(filter: TypedFilter) {
  const { scopes } = useSession().apiKey;
  const { text, setText } = useTypedFilter(filter);
  const other = filter.field.reference?.to;
  if (!other || !scopes.includes(scopeOf(other, 'READ'))) return <SearchField {...filter} />;
  return (
    <div className="search">
      <ReferenceInput
        aria-label={`Only of one ${other.singular}`}
        other={other}
        text={text}
        placeholder={`${filter.field.label}: name or id`}
        onChange={setText}
      />
    </div>
  );
}
