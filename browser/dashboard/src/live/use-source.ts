import type { ApolloClient, OperationVariables, TypedDocumentNode } from '@apollo/client';
import { useApolloClient } from '@apollo/client/react';
import { useEffect, useMemo, useState } from 'react';
import type { StreamState } from '../../../result-stream.js';
import { refusalOf } from '../errors/refusal.js';
import { type UpdateKind, UpdatesDocument } from '../graphql/generated.js';
import { useShown } from './attention.js';

const LINGER_MS = 30_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 15 * 60_000;
/** A source that ends earlier counts as a failure: it must not be opened over and over. */
const SOUND_MS = 60_000;

/** Opens something that tells of changes, such as a subscription. Returns a function that closes it. */
export type Source = (listener: SourceListener) => () => void;

interface SourceListener {
  state(state: StreamState): void;
  /** The gateway refuses the source, or ended it. */
  end(error: unknown): void;
}

/** `off`: there is no source, or the gateway refuses it for now. */
export type SourceState = StreamState | { kind: 'off' };

const OFF: SourceState = { kind: 'off' };
const CONNECTING: SourceState = { kind: 'connecting' };

/**
 * Keeps the source open while the page is visible; null = there is none. To open it costs a unit of the plan or of the key's
 * allowance, so a tab that is hidden for a moment keeps it. A refused source is opened again with exponential back-off.
 */
export function useSource(source: Source | null): SourceState {
  const isShown = useShownLately();
  const [state, setState] = useState<SourceState>(CONNECTING);
  useEffect(() => {
    if (!source || !isShown) return;
    let close = () => {};
    let known: SourceState = CONNECTING;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout>;
    const note = (next: SourceState) => {
      known = next;
      setState(next);
    };
    const open = () => {
      const openedAtMs = Date.now();
      const end = (error: unknown) => {
        note(OFF);
        if (Date.now() - openedAtMs >= SOUND_MS) failures = 0;
        timer = setTimeout(open, waitAfter(error, failures));
        failures += 1;
      };
      close = source({ state: note, end });
    };
    const retry = () => {
      if (known.kind !== 'away') return;
      close();
      open();
    };
    open();
    addEventListener('online', retry);
    return () => {
      removeEventListener('online', retry);
      clearTimeout(timer);
      close();
      setState(CONNECTING);
    };
  }, [source, isShown]);
  return source ? state : OFF;
}

/** A subscription as a source. */
export function openSubscription<Data, Variables extends OperationVariables>(
  client: ApolloClient,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  onData: (data: Data) => void,
): Source {
  return ({ state, end }) => {
    let refusal: unknown;
    const options = { query, variables, fetchPolicy: 'no-cache', context: { onState: state } } as const;
    const subscription = client.subscribe<Data>(options as never).subscribe({
      next: ({ data, error }) => {
        if (error) refusal = error;
        else if (data) onData(data as Data);
      },
      complete: () => end(refusal),
    });
    return () => subscription.unsubscribe();
  };
}

/** Whether the gateway now says when something of the kind may have changed; null = it is not asked. */
export function useUpdates(kind: UpdateKind | null, onUpdate: () => void): boolean {
  const client = useApolloClient();
  const source = useMemo(
    () => kind && openSubscription(client, UpdatesDocument, { of: [kind] }, onUpdate),
    [client, kind, onUpdate],
  );
  return useSource(source).kind === 'live';
}

/** Milliseconds until the next attempt; `failures` is the number of failures before this one. */
function waitAfter(error: unknown, failures: number): number {
  const { code, retryAfterSeconds = 0 } = refusalOf(error) ?? {};
  // The source begins again from the present.
  if (code === 'GONE' && failures === 0) return 0;
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.75 + Math.random() / 2);
  return Math.max(retryAfterSeconds * 1000, waitMs);
}

/** Whether the tab is visible, or was so a moment ago. */
function useShownLately(): boolean {
  const isShown = useShown();
  const [isLately, setLately] = useState(isShown);
  useEffect(() => {
    if (isShown) return setLately(true);
    const timer = setTimeout(() => setLately(false), LINGER_MS);
    return () => clearTimeout(timer);
  }, [isShown]);
  return isLately;
}
