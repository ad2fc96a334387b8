import { useApolloClient } from '@apollo/client/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { RequestFilter } from '../graphql/generated.js';
import { type LiveState, useLive } from '../live/use-live.js';
import { extended, joined, newerThan, type RequestPage } from './newest-page.js';
import { readRequests } from './read-requests.js';

/** Without updates: a tenth of a key's operations per minute for everything outside of the plan. */
const EVERY_MS = 5_000;
const PAGE_SIZE = 50;
/** The most that the gateway gives at once. */
const OLDER_PAGE_SIZE = 100;

interface Log {
  /** The filter that it was read with. */
  name: string;
  shown: RequestPage;
  /** A newer page that is held back. */
  waiting: RequestPage | null;
}

interface RequestLog {
  page: RequestPage | null;
  /** How many newer requests are held back. */
  waiting: number;
  /** Shows the requests that are held back. */
  release: () => void;
  older: { load: () => void; isLoading: boolean; error: unknown };
  /** Why the last look failed; null = it did not. */
  error: unknown;
  state: LiveState;
  refresh: () => void;
}

/** The newest requests that match, read repeatedly. While `isHeld()`, newer ones wait, so that no row moves under a reader. */
export function useRequestLog(filter: RequestFilter, isHeld: () => boolean): RequestLog {
  const client = useApolloClient();
  const name = JSON.stringify(filter);
  const [log, setLog] = useState<Log | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [older, setOlder] = useState<{ isLoading: boolean; error: unknown }>(IDLE);
  const held = useRef(isHeld);
  held.current = isHeld;
  const wanted = useRef(name);
  wanted.current = name;
  const mine = log?.name === name ? log : null;

  const read = useCallback(
    (first: number, after: string | null) =>
      readRequests(client, { first, after, filter: JSON.parse(name) as RequestFilter }),
    [client, name],
  );

  const look = useCallback(async () => {
    try {
      const newest = await read(PAGE_SIZE, null);
      if (wanted.current !== name) return;
      setError(null);
      setLog((known) => next(known, name, newest, held.current()));
    } catch (refused) {
      if (wanted.current === name) setError(refused);
      throw refused;
    }
  }, [read, name]);

  const { state, refresh } = useLive(look, EVERY_MS, { updates: 'REQUESTS' });
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is looked for at once.
  useEffect(() => {
    setError(null);
    setOlder(IDLE);
    if (!isFirst.current) refresh();
    isFirst.current = false;
  }, [name, refresh]);

  const endCursor = mine?.shown.pageInfo.endCursor ?? null;
  const load = useCallback(async () => {
    setOlder({ isLoading: true, error: null });
    try {
      const page = await read(OLDER_PAGE_SIZE, endCursor);
      setLog((known) =>
        known?.name === name && known.shown.pageInfo.endCursor === endCursor
          ? { ...known, shown: extended(known.shown, page) }
          : known,
      );
      if (wanted.current === name) setOlder(IDLE);
    } catch (refused) {
      if (wanted.current === name) setOlder({ isLoading: false, error: refused });
    }
  }, [read, endCursor, name]);

  const release = useCallback(
    () =>
      setLog((known) =>
        known?.waiting ? { ...known, shown: joined(known.shown, known.waiting), waiting: null } : known,
      ),
    [],
  );
  const waiting = useMemo(() => (mine?.waiting ? newerThan(mine.shown, mine.waiting).length : 0), [mine]);
  return {
    page: mine?.shown ?? null,
    waiting,
    release,
    older: { load: () => void load(), ...older },
    error,
    state,
    refresh,
  };
}

const IDLE = { isLoading: false, error: null };

function next(known: Log | null, name: string, newest: RequestPage, isHeld: boolean): Log {
  if (known?.name !== name) return { name, shown: newest, waiting: null };
  if (isHeld && newerThan(known.shown, newest).length > 0) return { ...known, waiting: newest };
  return { name, shown: joined(known.shown, newest), waiting: null };
}
