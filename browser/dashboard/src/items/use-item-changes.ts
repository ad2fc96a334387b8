import { useApolloClient } from '@apollo/client/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { NounDescription } from '../../../nouns.js';
import { openSubscription, type Source, type SourceState, useSource } from '../live/use-source.js';
import { documentsOf, type ItemChange } from './item-documents.js';

/** Changes of this time are shown together. */
const BATCH_MS = 100;
/** No row moves under a pointer that has just moved: a click would hit another one. */
const POINTER_RESTS_MS = 1_500;
/** Longer than a page of the list can be on its way. */
const RECENT_MS = 10_000;
/** Longer than the animation of a changed row. */
const MARKED_MS = 3_000;

interface Options {
  noun: NounDescription;
  /** The variables for the names of other records. */
  names: Readonly<Record<string, boolean>>;
  /** The project has a log of changes. */
  hasLog: boolean;
  /** The newest answer: recent changes are applied to each, because it may be older than they are. */
  answer: unknown;
  /** Resolves with the cursor of a page that has just been read; null = the log is off. */
  begin: () => Promise<string | null>;
  /** Shows the newest change of each item. Returns the ids of those that changed the page. */
  apply: (changes: readonly ItemChange[], areNew: boolean) => readonly string[];
}

interface ItemChanges {
  source: SourceState;
  /** The items that have just changed. */
  changedIds: ReadonlySet<string>;
}

/** Follows the changes of a noun while the page is visible. */
export function useItemChanges({ noun, names, hasLog, answer, begin, apply }: Options): ItemChanges {
  const client = useApolloClient();
  const { changes: document } = documentsOf(noun);
  const [changedIds, setChangedIds] = useState<ReadonlySet<string>>(new Set());
  const marked = useRef(new Map<string, number>());
  /** The newest change of each item, with its time. */
  const recent = useRef(new Map<string, { change: ItemChange; atMs: number }>());
  const pending = useRef(new Map<string, ItemChange>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isPointerAtRest = usePointerAtRest();

  const flush = useCallback(() => {
    if (!isPointerAtRest()) {
      timer.current = setTimeout(flush, BATCH_MS);
      return;
    }
    timer.current = undefined;
    const changes = [...pending.current.values()];
    pending.current.clear();
    const atMs = Date.now();
    for (const change of changes) recent.current.set(change.item.id, { change, atMs });
    for (const [id, { atMs: then }] of recent.current) if (atMs - then > RECENT_MS) recent.current.delete(id);
    for (const [id, then] of marked.current) if (atMs - then > MARKED_MS) marked.current.delete(id);
    for (const id of apply(changes, true)) marked.current.set(id, atMs);
    setChangedIds(new Set(marked.current.keys()));
  }, [apply, isPointerAtRest]);

  const add = useCallback(
    ({ change }: { change: ItemChange }) => {
      pending.current.set(change.item.id, change);
      timer.current ??= setTimeout(flush, BATCH_MS);
    },
    [flush],
  );
  useEffect(() => () => clearTimeout(timer.current), []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer needs them.
  useEffect(() => {
    const known = [...recent.current.values()].filter(({ atMs }) => Date.now() - atMs <= RECENT_MS);
    if (known.length > 0)
      apply(
        known.map(({ change }) => change),
        false,
      );
  }, [answer, apply]);

  const source = useMemo<Source | null>(() => {
    if (!hasLog || !document) return null;
    return (listener) => {
      let isClosed = false;
      let close = () => {};
      const open = (after: string | null) => {
        if (isClosed) return;
        if (after === null) listener.end(undefined);
        else close = openSubscription(client, document, { after, ...names }, add)(listener);
      };
      listener.state({ kind: 'connecting' });
      begin().then(open, (error) => !isClosed && listener.end(error));
      return () => {
        isClosed = true;
        close();
      };
    };
  }, [client, document, names, hasLog, begin, add]);
  return { source: useSource(source), changedIds };
}

/** Says whether the pointer has not moved over the rows for a moment. */
function usePointerAtRest(): () => boolean {
  const movedAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const note = ({ target }: PointerEvent) => {
      if (target instanceof Element && target.closest('table.items')) movedAtMs.current = Date.now();
    };
    addEventListener('pointermove', note, { passive: true });
    addEventListener('pointerdown', note, { passive: true });
    return () => {
      removeEventListener('pointermove', note);
      removeEventListener('pointerdown', note);
    };
  }, []);
  return useCallback(() => Date.now() - movedAtMs.current >= POINTER_RESTS_MS, []);
}
