import { Countdown } from '../elements/countdown.js';
import { Moment } from '../elements/moment.js';
import { useNow } from '../elements/now.js';
import type { KeyPartsFragment, StrikingClientPartsFragment } from '../graphql/generated.js';
import { banEndOf, hasEnded, stateOf } from './key-state.js';
import { KeyStrikes } from './key-strikes.js';

interface Props {
  apiKey: KeyPartsFragment;
  /** All keys, to name the successor and the replaced key. */
  keys: readonly KeyPartsFragment[];
  strikingClients: readonly StrikingClientPartsFragment[];
}

const BADGES = {
  valid: { word: 'Valid', tone: 'good' },
  expiring: { word: 'Expires soon', tone: 'warn' },
  replaced: { word: 'Replaced', tone: 'warn' },
  revoked: { word: 'Revoked', tone: 'idle' },
  expired: { word: 'Expired', tone: 'idle' },
} as const;

export function KeyStateCell({ apiKey, keys, strikingClients }: Props) {
  const nowMs = useNow();
  const state = stateOf(apiKey, nowMs);
  const { word, tone } = BADGES[state.kind];
  const isOver = hasEnded(apiKey, nowMs);
  const bannedUntilMs = isOver ? null : banEndOf(apiKey, nowMs);
  const replaced = keys.find(({ replacedById }) => replacedById === apiKey.id);
  // A key that is refused is not called valid; why it ends soon is another fact.
  return (
    <div className="key-state">
      {bannedUntilMs !== null && (
        <>
          <span className="badge badge-bad">Banned</span>
          <span className="muted">
            Ends in <Countdown untilMs={bannedUntilMs} />
          </span>
        </>
      )}
      {(bannedUntilMs === null || state.kind !== 'valid') && (
        <>
          <span className={`badge badge-${isOver ? 'idle' : tone}`}>{word}</span>
          <span className="muted">
            {state.kind === 'valid' && state.at === null && 'No expiry'}
            {state.kind === 'valid' && state.at !== null && (
              <>
                Expires <Moment at={state.at} />
              </>
            )}
            {state.kind === 'replaced' && (
              <>
                by <Successor id={state.by} keys={keys} />, {isOver ? 'stopped' : 'stops'}{' '}
                <Moment at={state.at} />
              </>
            )}
            {(state.kind === 'expiring' || state.kind === 'revoked' || state.kind === 'expired') && (
              <Moment at={state.at} />
            )}
          </span>
        </>
      )}
      {!isOver && <KeyStrikes clients={strikingClients} />}
      {replaced && (
        <span className="muted">
          replaces <code>{replaced.prefix}…</code>
        </span>
      )}
    </div>
  );
}

/** A successor has the same name, so its prefix tells it apart. */
function Successor({ id, keys }: { id: string; keys: readonly KeyPartsFragment[] }) {
  const found = keys.find((key) => key.id === id);
  return found ? <code>{found.prefix}…</code> : 'a key that ended';
}
