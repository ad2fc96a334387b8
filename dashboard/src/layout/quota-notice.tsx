import { Countdown } from '../elements/countdown.js';
import { Notice } from '../elements/notice.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';

const STILL_WORKS = 'Keys, domains and usage work as ever: they spend nothing of the plan.';

/** On every page, while the key or the quota keeps it from pets. */
export function QuotaNotice() {
  const now = useNow();
  const known = standing.use();
  const bannedUntilMs = known?.ban?.until ? Date.parse(known.ban.until) : 0;
  const spent = [known?.day, known?.minute].find((window) => window && window.remaining === 0);
  const spentUntilMs = spent ? Date.parse(spent.resetAt) : 0;
  if (bannedUntilMs > now) {
    return (
      <Notice tone="bad" title="This API key is banned for a while." isUrgent>
        <p>
          It went on asking for pets after being told to wait. Pets are open to it again in{' '}
          <Countdown untilMs={Math.max(bannedUntilMs, spentUntilMs)} />, by itself. {STILL_WORKS}
        </p>
      </Notice>
    );
  }
  if (!spent || spentUntilMs <= now) return null;
  return (
    <Notice
      tone="warn"
      title={spent === known?.day ? 'The quota of today is spent.' : 'The quota of this minute is spent.'}
    >
      <p>
        Wait <Countdown untilMs={spentUntilMs} />; requests for pets before that are refused, and count as
        strikes. {STILL_WORKS}
      </p>
    </Notice>
  );
}
