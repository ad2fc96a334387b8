import { filteredFieldsOf } from '../../../nouns.js';
import { Segments } from '../elements/segments.js';
import { type Browsing, browseTo, select } from './browsing.js';
import { choiceInWords } from './item.js';
import { SearchField } from './search-field.js';
import { orderingSearch, orderOf, withFilter } from './selection.js';

/** Searches, choices and order of the list. */
export function Toolbar({ browsing }: { browsing: Browsing }) {
  const { noun, filters } = browsing;
  const filtered = filteredFieldsOf(noun);
  const search = filtered.find(({ argument }) => argument === orderingSearch(browsing)?.argument);
  return (
    <div className="item-toolbar">
      {filtered.map(({ argument, field, match }) =>
        field.choices ? (
          <Segments
            key={argument}
            legend={field.label}
            choices={[
              { value: null, label: 'All' },
              ...field.choices.map((choice) => ({ value: choice, label: choiceInWords(field, choice) })),
            ]}
            value={filters[argument] ?? null}
            onChange={(choice) =>
              browseTo(select(browsing, { filters: withFilter(browsing, argument, choice) }))
            }
          />
        ) : (
          <SearchField key={argument} browsing={browsing} argument={argument} field={field} match={match} />
        ),
      )}
      <select
        aria-label="Order"
        value={orderOf(browsing)}
        onChange={({ target }) =>
          browseTo(select(browsing, { orderBy: target.value === 'OLDEST' ? 'OLDEST' : 'NEWEST' }))
        }
      >
        <option value="NEWEST">{search ? `${search.field.label}, Z to A` : 'Newest first'}</option>
        <option value="OLDEST">{search ? `${search.field.label}, A to Z` : 'Oldest first'}</option>
      </select>
    </div>
  );
}
