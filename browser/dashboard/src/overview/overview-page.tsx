import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { LiveBadge } from '../live/live-badge.js';
import { Page } from '../routing/page.js';
import { Addresses } from './addresses.js';
import { BanLadder } from './ban-ladder.js';
import { PlanCard } from './plan-card.js';
import { Quota } from './quota.js';
import { UsagePlot } from './usage-plot.js';
import { useLiveUsage } from './use-live-usage.js';

const OF_MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
const OF_DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', timeZone: 'UTC' };

export function OverviewPage() {
  const { usage, error, state, refresh } = useLiveUsage();
  return (
    <Page
      title="Overview"
      actions={
        <>
          <LiveBadge state={state} />
          <button type="button" onClick={refresh}>
            Refresh
          </button>
        </>
      }
    >
      {error && !usage ? <ErrorNotice error={error} onRetry={refresh} /> : null}
      <div className="grid">
        <PlanCard />
        <Addresses />
        <Quota />
        <BanLadder />
      </div>
      {usage?.hour ? (
        <UsagePlot
          title="Requests per minute, last hour"
          unit="minute"
          points={usage.hour.points}
          format={OF_MINUTE}
        />
      ) : (
        !error && <Loading what="the usage" shape="plot" />
      )}
      {usage?.month && (
        <UsagePlot
          title="Requests per day, last 30 days"
          unit="day"
          points={usage.month.points}
          format={OF_DAY}
        />
      )}
    </Page>
  );
}
