import { NOUN_WORDS } from '../../../gateway.js';
import { Countdown } from '../elements/countdown.js';
import { Notice } from '../elements/notice.js';
import { useNow } from '../elements/now.js';
import { pauseOf } from '../graphql/plan-pause.js';
import { standing } from '../graphql/standing.js';

const STILL_WORKS = 'Keys, domains and usage still work: they spend nothing of the plan.';

/** The only banner about quotas, on every page while the key, the quota or the allowance blocks requests. */
export function QuotaNotice() {
  const now = useNow();
  const known = standing.use();
  const pause = pauseOf(known, now);
  if (pause?.code === 'KEY_BANNED') {
    return (
      <Notice tone="bad" title="This API key is temporarily banned." isUrgent>
        <p>
          It continued to request {NOUN_WORDS} after a 429. Requests for {NOUN_WORDS} work again automatically
          in <Countdown untilMs={pause.untilMs} />. Until then the dashboard sends none. {STILL_WORKS}
        </p>
      </Notice>
    );
  }
  if (pause) {
    const name = pause.code === 'RATE_LIMITED_DAY' ? 'today' : 'this minute';
    return (
      <Notice tone="warn" title={`The quota of ${name} is spent.`}>
        <p>
          Wait <Countdown untilMs={pause.untilMs} />: until then the dashboard sends no request for{' '}
          {NOUN_WORDS}. A client that sends one makes a strike. {STILL_WORKS}
        </p>
      </Notice>
    );
  }
  const management = known?.management;
  if (management?.remaining !== 0 || Date.parse(management.resetAt) <= now) return null;
  return (
    <Notice tone="warn" title="This key has no operations left in this minute.">
      <p>
        Everything except {NOUN_WORDS} has its own limit per minute. It resets in{' '}
        <Countdown untilMs={Date.parse(management.resetAt)} />.
      </p>
    </Notice>
  );
}
