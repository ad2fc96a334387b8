import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Segments } from '../elements/segments.js';
import { type Browsing, browseTo, orderOf, PET_STATUSES, select } from './pet-browsing.js';

const STATUSES = [
  { value: null, label: 'All' },
  ...PET_STATUSES.map((status) => ({ value: status, label: status })),
];
/** Each search spends a unit of the plan, so it waits for a pause in the typing. */
const PAUSE_MS = 350;

/** Search, status and order of the list. */
export function PetToolbar({ browsing }: { browsing: Browsing }) {
  const isSearch = browsing.nameStartsWith !== null;
  return (
    <div className="pet-toolbar">
      <SearchField browsing={browsing} />
      <Segments
        legend="Status"
        choices={STATUSES}
        value={browsing.status}
        onChange={(status) => browseTo(select(browsing, { status }))}
      />
      <select
        aria-label="Order"
        value={orderOf(browsing)}
        onChange={({ target }) =>
          browseTo(select(browsing, { orderBy: target.value === 'OLDEST' ? 'OLDEST' : 'NEWEST' }))
        }
      >
        <option value="NEWEST">{isSearch ? 'Name, Z to A' : 'Newest first'}</option>
        <option value="OLDEST">{isSearch ? 'Name, A to Z' : 'Oldest first'}</option>
      </select>
    </div>
  );
}

function SearchField({ browsing }: { browsing: Browsing }) {
  const given = browsing.nameStartsWith ?? '';
  const [text, setText] = useState(given);
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
    if (text === sent.current) return;
    sent.current = text;
    const changes = { nameStartsWith: text || null, orderBy: null };
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
          aria-label="Search by the start of the name"
          placeholder="Name starts with…"
          title="Upper and lower case differ: Re finds Rex, re does not."
          value={text}
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
    </search>
  );
}
