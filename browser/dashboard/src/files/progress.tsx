import { Countdown } from '../elements/countdown.js';
import type { Wait } from './paced.js';

interface Props {
  /** The present work: `Export of requests`. */
  label: string;
  /** From 0 to 1; null = not known. */
  share: number | null;
  /** How far it is: `120 of 500 requests`. */
  text: string;
  wait: Wait | null;
}

const REASONS: Record<Wait['reason'], string> = {
  quota: 'Waits for the next minute, so that other clients keep a part of the quota',
  day: 'The quota of today is spent; goes on after midnight UTC',
  refused: 'The gateway asked to wait',
  away: 'The gateway can’t be reached; tries again',
};

export function Progress({ label, share, text, wait }: Props) {
  return (
    <div className="progress">
      <progress aria-label={label} {...(share === null ? {} : { value: share, max: 1 })} />
      <p className="progress-text">
        <span role="status">{text}</span>
        {wait && (
          <span className="muted">
            <Waiting wait={wait} />
          </span>
        )}
      </p>
    </div>
  );
}

/** Why a task waits, and how long. */
export function Waiting({ wait }: { wait: Wait }) {
  return (
    <>
      {REASONS[wait.reason]}: <Countdown untilMs={wait.untilMs} />
    </>
  );
}
