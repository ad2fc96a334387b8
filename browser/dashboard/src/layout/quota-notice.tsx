import { Countdown } from '../elements/countdown.js';
import { Notice } from '../elements/notice.js';
import { useNow } from '../elements/now.js';
import type { StandingFragment } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';

const STILL_WORKS = 'Keys, domains and usage still work: they spend nothing of the plan.';

/** The only banner about quotas, on every page while the key, the quota or the allowance blocks requests. */
export function QuotaNotice() {
  const now = useNow();
  const known = standing.use();
  if (!known) return null;
  const spent = [known.day, known.minute].find((window) => isSpent(window, now));
  const bannedUntilMs = known.ban?.until ? Date.parse(known.ban.until) : 0;
  if (bannedUntilMs > now) {
    const untilMs = Math.max(bannedUntilMs, spent ? Date.parse(spent.resetAt) : 0);
    return (
      <Notice tone="bad" title="This API key is temporarily banned." isUrgent>
        <p>
          It continued to request pets after a 429. Requests for pets work again automatically in{' '}
          <Countdown untilMs={untilMs} />. {STILL_WORKS}
        </p>
      </Notice>
    );
  }
  if (spent) {
    return (
      <Notice
        tone="warn"
        title={spent === known.day ? 'The quota of today is spent.' : 'The quota of this minute is spent.'}
      >
        <p>
          Wait <Countdown untilMs={Date.parse(spent.resetAt)} />; requests for pets before that are refused,
          and count as strikes. {STILL_WORKS}
        </p>
      </Notice>
    );
  }
  if (!isSpent(known.management, now)) return null;
  return (
    <Notice tone="warn" title="This key has no operations left in this minute.">
      <p>
        Everything except pets has its own limit per minute. It resets in{' '}
        <Countdown untilMs={Date.parse(known.management.resetAt)} />.
      </p>
    </Notice>
  );
}

type Window = StandingFragment['minute'];

function isSpent(window: Window | null | undefined, nowMs: number): window is Window {
  return !!window && window.remaining === 0 && Date.parse(window.resetAt) > nowMs;
}
