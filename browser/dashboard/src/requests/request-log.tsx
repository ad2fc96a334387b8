import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Loading } from '../elements/loading.js';
import { ErrorNotice } from '../errors/error-notice.js';
import { useBlock } from '../errors/use-block.js';
import type { RequestFilter } from '../graphql/generated.js';
import { LiveBadge } from '../live/live-badge.js';
import { usePlace } from '../routing/location.js';
import { isDashboardRead } from './dashboard-reads.js';
import { DashboardReadsSwitch } from './dashboard-reads-switch.js';
import { LeftOut } from './left-out.js';
import { NoRequests } from './no-requests.js';
import { hasDashboardReads, showDashboardReads, showRequests } from './request-filter.js';
import { RequestTable } from './request-table.js';
import { useRequestLog } from './use-request-log.js';

interface Props {
  filter: RequestFilter;
  filters: ReactNode;
}

/** A list with fewer requests loads older ones automatically. */
const FEW = 15;
const MAX_AUTOMATIC_LOADS = 10;

export function RequestLog({ filter, filters }: Props) {
  const [openId, setOpenId] = useState<string | null>(null);
  const top = useRef<HTMLDivElement>(null);
  const isHeld = () => openId !== null || (top.current?.getBoundingClientRect().top ?? 0) < 0;
  const { page, waiting, release, older, error, state, refresh } = useRequestLog(filter, isHeld);
  const place = usePlace();
  const isComplete = hasDashboardReads(place);
  const requests = (page?.nodes ?? []).filter((request) => isComplete || !isDashboardRead(request));
  const hidden = (page?.nodes.length ?? 0) - requests.length;
  const hasOlder = page?.pageInfo.hasNextPage === true;

  const name = JSON.stringify(filter);
  const loads = useRef({ name, count: 0 });
  useEffect(() => {
    if (loads.current.name !== name) loads.current = { name, count: 0 };
    if (!hasOlder || requests.length >= FEW || older.isLoading || older.error) return;
    if (loads.current.count >= MAX_AUTOMATIC_LOADS) return;
    loads.current.count += 1;
    older.load();
  });

  const show = () => {
    setOpenId(null);
    release();
    window.scrollTo({ top: 0 });
  };
  return (
    <>
      {page?.isOn !== false && filters}
      <div className="log-head" ref={top}>
        {page?.isOn !== false && <LiveBadge state={state} />}
        {page?.isOn && <LeftOut count={page.leftOut} />}
        <DashboardReadsSwitch
          isShown={place.query.has('dashboard')}
          hidden={hidden}
          onSwitch={(isShown) => (isShown ? showDashboardReads(filter) : showRequests(filter))}
        />
      </div>
      {!page && error ? <ErrorNotice error={error} onRetry={refresh} /> : null}
      {!page && !error && <Loading what="the requests" count={8} />}
      {waiting > 0 && (
        <button type="button" className="small newer" onClick={show}>
          Show {waiting === 1 ? '1 newer request' : `${waiting} newer requests`}
        </button>
      )}
      {page && requests.length > 0 && <RequestTable requests={requests} openId={openId} onOpen={setOpenId} />}
      {page && requests.length === 0 && !hasOlder && <NoRequests page={page} filter={filter} />}
      {page && hasOlder && <Older {...older} />}
      {page && !hasOlder && requests.length > 0 && (
        <p className="muted list-end">No older requests in the log.</p>
      )}
    </>
  );
}

interface OlderProps {
  load: () => void;
  isLoading: boolean;
  error: unknown;
}

function Older({ load, isLoading, error }: OlderProps) {
  const { isBlocked, countdown } = useBlock(error);
  return (
    <div className="older">
      {error ? <ErrorNotice error={error} /> : null}
      <button type="button" disabled={isLoading || isBlocked} onClick={load}>
        {isLoading ? 'Loading older requests…' : 'Load older requests'}
        {countdown}
      </button>
    </div>
  );
}
