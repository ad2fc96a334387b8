import { Countdown } from '../elements/countdown.js';
import { Notice } from '../elements/notice.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';

/** On every page, while the key or the quota keeps it from working. */
export function QuotaNotice() {
  const now = useNow();
  const known = standing.use();
  const bannedUntilMs = known?.ban?.until ? Date.parse(known.ban.until) : 0;
  if (bannedUntilMs > now) {
    return (
      <Notice tone="bad" title="This API key is banned for a while." isUrgent>
        <p>
          It went on after being told to wait. It works again by itself in{' '}
          <Countdown untilMs={bannedUntilMs} />.
        </p>
      </Notice>
    );
  }
  const spent = [known?.day, known?.minute].find((window) => window && window.remaining === 0);
  if (!spent || Date.parse(spent.resetAt) <= now) return null;
  return (
    <Notice
      tone="warn"
      title={spent === known?.day ? 'The quota of today is spent.' : 'The quota of this minute is spent.'}
    >
      <p>
        Wait <Countdown untilMs={Date.parse(spent.resetAt)} />; requests before that are refused, and count as
        strikes.
      </p>
    </Notice>
  );
}
