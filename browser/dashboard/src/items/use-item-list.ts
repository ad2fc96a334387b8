import { useApolloClient, useQuery } from '@apollo/client/react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { standing } from '../graphql/standing.js';
import { isBelow, type LiveState, useLive } from '../live/use-live.js';
import type { SourceState } from '../live/use-source.js';
import { nameVariables } from '../references/reference-names.js';
import { useSession } from '../session/signed-in.js';
import type { Browsing } from './browsing.js';
import { changedPage, isIncomplete, PAGE_SIZE } from './changed-page.js';
import { documentsOf, type ItemChange, type ListPage } from './item-documents.js';
import { orderOf, variablesOf } from './selection.js';
import { useItemChanges } from './use-item-changes.js';

/** Each look spends a unit of the plan. */
const EVERY_MS = 60_000;
/** Below this share of the quota no look is sent: the rest is for the project's clients. */
const SPARED = 0.5;
/** The page is read again at most so often, however many changes leave it incomplete. */
const READ_EVERY_MS = 10_000;
/** A stream may begin behind a page that was read within this time. */
const NEW_MS = 10_000;

export interface ItemListState {
  /** The newest known page; undefined = none yet. */
  page: ListPage | undefined;
  /** It belongs to the place where the user was before. */
  isStale: boolean;
  isLoading: boolean;
  error: unknown;
  /** Reads the page again. Resolves with it; undefined = it could not be read. */
  reload: () => Promise<ListPage | undefined>;
  /** The items that others have just changed. */
  changedIds: ReadonlySet<string>;
  state: LiveState;
}

/** A page of the list, kept up to date by a stream of changes. Without one, or with computed fields, it is read again each minute. */
export function useItemList(browsing: Browsing, mayRead: boolean): ItemListState {
  const { noun, after } = browsing;
  const client = useApolloClient();
  const { list } = documentsOf(noun);
  const { scopes } = useSession().apiKey;
  const names = useMemo(() => nameVariables(noun, scopes), [noun, scopes]);
  const orderBy = orderOf(browsing);
  const variables = { first: PAGE_SIZE, after, ...variablesOf(browsing), orderBy, ...names };
  const { data, previousData, loading, error, refetch } = useQuery(list, {
    variables,
    // A page that was read before is shown from the cache at once, and updated if it has changed.
    fetchPolicy: 'cache-and-network',
    skip: !mayRead,
  });
  const page = (data ?? previousData)?.page;
  const shown = useRef({ variables, browsing });
  shown.current = { variables, browsing };
  const readAtMs = useRef(0);
  useEffect(() => {
    if (!loading) readAtMs.current = Date.now();
  }, [loading]);

  const look = useCallback(async () => {
    readAtMs.current = Date.now();
    return (await refetch()).data?.page;
  }, [refetch]);
  const reload = useCallback(() => look().catch(() => undefined), [look]);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const reloadSoon = useCallback(() => {
    if (isPlanScarce()) return;
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        void reload();
      },
      Math.max(0, readAtMs.current + READ_EVERY_MS - Date.now()),
    );
  }, [reload]);
  useEffect(() => () => clearTimeout(timer.current), []);

  /** Writes changes into the shown page. Returns the ids of those that changed it. */
  const apply = useCallback(
    (changes: readonly ItemChange[], areNew: boolean) => {
      const changed: string[] = [];
      const { variables, browsing } = shown.current;
      client.cache.updateQuery({ query: list, variables }, (known) => {
        if (!known) return;
        const place = { selection: browsing, isFirst: browsing.after === null };
        let { page } = known;
        for (const change of changes) {
          const next = changedPage({ ...place, page }, change);
          if (next !== page) changed.push(change.item.id);
          page = next;
        }
        if (areNew && isIncomplete({ page })) reloadSoon();
        return changed.length > 0 ? { ...known, page } : undefined;
      });
      // Rows that left the page would stay in the cache for as long as the tab is open.
      if (changed.length > 0) client.cache.gc();
      return changed;
    },
    [client, list, reloadSoon],
  );

  const cursor = page?.changesCursor ?? null;
  const newest = useRef(cursor);
  newest.current = cursor;
  const begin = useCallback(async () => {
    if (Date.now() - readAtMs.current < NEW_MS) return newest.current;
    return (await look())?.changesCursor ?? null;
  }, [look]);
  const wasRead = useRef(false);
  wasRead.current ||= data !== undefined && !loading;
  const hasLog = mayRead && wasRead.current && cursor !== null;
  const { source, changedIds } = useItemChanges({ noun, names, hasLog, answer: data, begin, apply });

  // A computed value can change with the time alone, which no stream tells.
  const isFollowed = source.kind === 'live' && !noun.computed;
  const everyMs = mayRead && !isFollowed ? EVERY_MS : null;
  const { state } = useLive(look, everyMs, { waitsFirst: true, isScarce: isPlanScarce });
  return {
    page,
    isStale: data === undefined,
    isLoading: loading,
    error,
    reload,
    changedIds,
    state: wasRead.current ? stateOf(source, state) : { kind: 'connecting' },
  };
}

function stateOf(source: SourceState, looks: LiveState): LiveState {
  if (source.kind === 'live' || (source.kind === 'connecting' && looks.kind === 'connecting')) return source;
  // The stream is tried again long before the next look.
  if (source.kind === 'away' && looks.kind === 'connecting') return source;
  return looks.kind === 'connecting' || looks.kind === 'live' ? { kind: 'polled' } : looks;
}

function isPlanScarce(): boolean {
  const known = standing.get();
  return isBelow(SPARED, known?.minute) || isBelow(SPARED, known?.day);
}
