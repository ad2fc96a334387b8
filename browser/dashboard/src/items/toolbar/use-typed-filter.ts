import { useEffect, useRef, useState } from 'react';
import type { NounField, NounFilter } from '../../../../nouns.js';
import { type Browsing, browseTo, select } from '../browsing.js';
import { filteredBy, isSearchable } from '../selection.js';

export interface TypedFilter {
  browsing: Browsing;
  argument: string;
  field: NounField;
  match: NounFilter['match'];
}

/** Each search spends a unit of the plan, so it waits for a pause in the typing. */
const PAUSE_MS = 350;

/** The text of a filter that the user types. */
export function useTypedFilter({ browsing, argument, field, match }: TypedFilter) {
  const given = browsing.filters[argument] ?? '';
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
    browseTo(select(browsing, filteredBy(browsing, argument, text || null)), { replace: given !== '' });
  };
  return { text, setText, isValid, search };
}
