import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { inSentence, type NounField, type NounFilter } from '../../../nouns.js';
import { type Browsing, browseTo, select } from './browsing.js';
import { isSearchable, withFilter } from './selection.js';

interface Props {
  browsing: Browsing;
  argument: string;
  field: NounField;
  match: NounFilter['match'];
}

/** Each search spends a unit of the plan, so it waits for a pause in the typing. */
const PAUSE_MS = 350;

/** A search by a text, or by its start. */
export function SearchField({ browsing, argument, field, match }: Props) {
  const given = browsing.filters[argument] ?? '';
  const isStart = match === 'start';
  const [text, setText] = useState(given);
  const isValid = text === '' || isSearchable({ field, match }, text);
  const sent = useRef(given);
  useEffect(() => {
    // The URL changed by another way, such as Back.
    if (given !== sent.current) setText(given);
    sent.current = given;
  }, [given]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the typed text restarts the wait.
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(search, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const search = () => {
    if (text === sent.current || !isValid) return;
    sent.current = text;
    const filters = withFilter(browsing, argument, text || null);
    // The start of a text brings its own order with it.
    const changes = isStart ? { filters, orderBy: null } : { filters };
    browseTo(select(browsing, changes), { replace: given !== '' });
  };
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
