import { Search } from 'lucide-react';
import { inSentence, type NounField } from '../../../../nouns.js';
import { type TypedFilter, useTypedFilter } from './use-typed-filter.js';

/** A search by a text, or by its start. */
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
          aria-label={`Search by the ${isStart ? 'start of the ' : ''}${inSentence(field.label)}`}
          placeholder={isStart ? `${field.label} starts with…` : field.label}
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

/** Undefined = the example has no letters that differ. */
function caseHint({ example }: NounField, isStart: boolean): string | undefined {
  const typed = isStart ? example.slice(0, 2) : example;
  const other = typed.toLowerCase();
  return typed === other
    ? undefined
    : `Upper and lower case differ: ${typed} finds ${example}, ${other} does not.`;
}
