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
  const { known, first, isStale, error, state, refresh } = useLiveUsage();
  const { isBlocked, countdown } = useBlock(error);
  const inWords = known ? WINDOW_WORDS[known.window] : '';
  const start = (
    <div className="grid" key="start">
      <QuickStart first={first} />
      <Addresses primaryUrl={known?.usage.primaryUrl ?? null} />
    </div>
  );
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
      {!known &&
        (error ? (
          <ErrorNotice error={error} onRetry={refresh} />
        ) : (
          <Loading what="the usage" shape="overview" count={5} />
        ))}
      {known && (
        <>
          {first !== null && start}
          <UsageCard known={known} isStale={isStale} />
          <Quota apiKeys={known.apiKeys} />
          <div className="grid">
            <TopKeys series={known.usage.keys?.series} apiKeys={known.apiKeys} inWords={inWords} />
            <TopOperations
              series={known.usage.operations.series}
              statuses={known.usage.statuses.series}
              inWords={inWords}
            />
          </div>
        </>
      )}
      {!known && error ? <Quota apiKeys={undefined} /> : null}
      {(known ? first === null : Boolean(error)) && start}
    </Page>
  );
}
