import { Search } from 'lucide-react';
import { inSentence, type NounField } from '../../../../nouns.js';
import { type TypedFilter, useTypedFilter } from './use-typed-filter.js';

/** A search by a text, by its start, or by one of several texts. */
export function SearchField(filter: TypedFilter) {
  const { field } = filter;
  const { text, setText, isValid, search } = useTypedFilter(filter);
  const isStart = filter.match === 'start';
  return (
    <search className="search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <Search size={16} aria-hidden="true" />
        <input
          type="search"
          dir="auto"
          aria-label={`Search by ${PARTS[filter.match] ?? 'the'} ${inSentence(field.label)}`}
          placeholder={placeholderOf(filter)}
          title={caseHint(field, isStart)}
          value={text}
          aria-invalid={!isValid}
          maxLength={field.maxLength ?? 255}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </search>
  );
}

const PARTS: Partial<Record<TypedFilter['match'], string>> = {
  start: 'the start of the',
  has: 'a text in the',
};

function placeholderOf({ field: { label }, match }: TypedFilter): string {
  if (match === 'has') return `A text in ${inSentence(label)}`;
  return match === 'start' ? `${label} starts with…` : label;
}

/** Undefined = the example has no letters that differ. */
function caseHint({ example }: NounField, isStart: boolean): string | undefined {
  const typed = isStart ? example.slice(0, 2) : example;
  const other = typed.toLowerCase();
  return typed === other
    ? undefined
    : `Upper and lower case differ: ${typed} finds ${example}, ${other} does not.`;
}
