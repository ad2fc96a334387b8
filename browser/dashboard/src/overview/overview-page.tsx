import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import { LiveBadge } from '../live/live-badge.js';
import { Quota } from '../quota/quota.js';
import { Page } from '../routing/page.js';
import { Addresses } from './addresses.js';
import { QuickStart } from './quick-start.js';
import { TopKeys } from './top-keys.js';
import { TopOperations } from './top-operations.js';
import { UsageCard } from './usage-card.js';
import { WINDOW_WORDS } from './usage-choice.js';
import { useLiveUsage } from './use-live-usage.js';

export function OverviewPage() {
  const { known, isStale, error, state, refresh } = useLiveUsage();
  const { isBlocked, countdown } = useBlock(error);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <LiveBadge state={state} />
          <button type="button" disabled={isBlocked} onClick={refresh}>
            Refresh{countdown}
          </button>
        </>
      }
    >
      {error && !known ? <ErrorNotice error={error} onRetry={refresh} /> : null}
      {known ? (
        <UsageCard known={known} isStale={isStale} />
      ) : (
        !error && <Loading what="the usage" shape="plot" />
      )}
      <Quota />
      {known && (
        <div className="grid">
          <TopKeys series={known.usage.keys?.series} inWords={WINDOW_WORDS[known.window]} />
          <TopOperations series={known.usage.operations.series} inWords={WINDOW_WORDS[known.window]} />
        </div>
      )}
      {!known && !error && <Loading what="the keys and operations" shape="cards" count={2} />}
      <div className="grid">
        <QuickStart />
        <Addresses primaryUrl={known?.usage.primaryUrl ?? null} />
      </div>
    </Page>
  );
}
