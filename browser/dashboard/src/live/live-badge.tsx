import { Countdown } from '../elements/countdown.js';
import type { LiveState } from './use-live.js';

const TONES = { connecting: 'idle', live: 'good', polled: 'idle', paused: 'idle', away: 'warn' } as const;

/** Says whether the page shows the present, and when it will again. */
export function LiveBadge({ state }: { state: LiveState }) {
  return (
    <span className={`badge badge-${TONES[state.kind]} live live-${state.kind}`}>
      <span className="live-dot" aria-hidden="true" />
      {state.kind === 'connecting' && 'Connecting…'}
      {state.kind === 'live' && 'Live'}
      {state.kind === 'polled' && 'Updated every minute'}
      {state.kind === 'paused' && 'Paused'}
      {state.kind === 'away' && (
        <>
          Reconnects in <Countdown untilMs={state.retryAtMs} />
        </>
      )}
    </span>
  );
}
