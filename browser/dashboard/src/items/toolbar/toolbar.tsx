import { filteredFieldsOf, type NounDescription, type NounField } from '../../../../nouns.js';
import { Segments } from '../../elements/segments.js';
import { type Browsing, browseTo, select } from '../browsing.js';
import { choiceInWords, choiceTextOf } from '../item.js';
import { filteredBy, orderBy, orderingOf, orderOf } from '../selection.js';
import { RangeField } from './range-field.js';
import { ReferenceFilter } from './reference-filter.js';
import { SearchField } from './search-field.js';

/** Searches, choices and order of the list. */
export function Toolbar({ browsing }: { browsing: Browsing }) {
  const { noun, filters } = browsing;
  return (
    <div className="item-toolbar">
      {filteredFieldsOf(noun).map(({ argument, field, match }) =>
        match === 'before' ? null : match === 'from' ? (
          <RangeField
            key={argument}
            browsing={browsing}
            field={field}
            from={argument}
            before={beforeOf(noun, field)}
          />
        ) : field.choices ? (
          <Segments
            key={argument}
            legend={field.label}
            choices={[
              { value: null, label: 'All' },
              ...field.choices.map((choice) => ({
                value: choice,
                label: choiceInWords(field, choice),
                title: choiceTextOf(field, choice),
              })),
            ]}
            value={filters[argument] ?? null}
            onChange={(choice) => browseTo(select(browsing, filteredBy(browsing, argument, choice)))}
          />
        ) : field.reference ? (
          <ReferenceFilter
            key={argument}
            browsing={browsing}
            argument={argument}
            field={field}
            match={match}
          />
        ) : (
          <SearchField key={argument} browsing={browsing} argument={argument} field={field} match={match} />
        ),
      )}
      <OrderChoice browsing={browsing} />
    </div>
  );
}

/** A narrow screen has no heads of columns, so the orders by a field are here, too. */
function OrderChoice({ browsing }: { browsing: Browsing }) {
  const { noun } = browsing;
  const { field, isDescending, isFixed } = orderingOf(browsing);
  const sorted = isFixed ? [] : noun.fields.filter(({ isSorted }) => isSorted);
  return (
    <select
      aria-label="Order"
      value={isFixed ? (isDescending ? 'NEWEST' : 'OLDEST') : orderOf(browsing)}
      onChange={({ target }) => browseTo(select(browsing, { orderBy: target.value }))}
    >
      <option value="NEWEST">{isFixed && field ? directionOf(field, true) : 'Newest first'}</option>
      <option value="OLDEST">{isFixed && field ? directionOf(field, false) : 'Oldest first'}</option>
      {sorted.flatMap((each) =>
        [false, true].map((isReverse) => (
          <option key={orderBy(each, isReverse)} value={orderBy(each, isReverse)}>
            {directionOf(each, isReverse)}
          </option>
        )),
      )}
    </select>
  );
}

function directionOf({ kind, label }: NounField, isDescending: boolean): string {
  if (kind === 'text') return `${label}, ${isDescending ? 'Z to A' : 'A to Z'}`;
  return `${label}, ${isDescending ? 'descending' : 'ascending'}`;
}

function beforeOf({ filters }: NounDescription, { name }: NounField): string {
  return filters.find(({ field, match }) => field === name && match === 'before')?.argument ?? '';
}
