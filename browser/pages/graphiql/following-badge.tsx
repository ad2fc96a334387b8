import type { Following } from './followed.js';

const TONES = { connecting: 'idle', live: 'good', away: 'warn' } as const;
const WORDS = { connecting: 'Connecting…', live: 'Live', away: 'Connection lost, reconnecting…' } as const;

/** Says whether a subscription runs. Only its state is announced: its events would drown out everything else. */
export function FollowingBadge({ following }: { following: Following | null }) {
  const kind = following?.state.kind;
  return (
    <>
      <span role="status">
        {kind && (
          <span className={`badge badge-${TONES[kind]} live live-${kind}`}>
            <span className="live-dot" aria-hidden="true" />
            {WORDS[kind]}
          </span>
        )}
      </span>
      {following && (
        <span className="followed">
          {following.events === 1 ? '1 event' : `${following.events.toLocaleString('en')} events`}
        </span>
      )}
    </>
  );
}
