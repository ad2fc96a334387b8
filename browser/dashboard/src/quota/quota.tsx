import { Countdown } from '../elements/countdown.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';
import type { KnownUsage } from '../overview/use-live-usage.js';
import { useSession } from '../session/signed-in.js';
import { Ban, Strikes } from './ban.js';
import { BannedKeys } from './banned-keys.js';
import { QuotaBar } from './quota-bar.js';
import { currentWindow } from './quota-window.js';

/** Both windows as in the newest response, updated for the time that has passed since, and the ban of the key. */
export function Quota({ apiKeys }: { apiKeys: KnownUsage['apiKeys'] }) {
  const now = useNow();
  const { plan } = useSession().project;
  const known = standing.use();
  const isBanned = !!known?.ban?.until && Date.parse(known.ban.until) > now;
  const windows = known
    ? [
        { name: 'This minute', ...currentWindow(known.minute, 60, now) },
        ...(known.day ? [{ name: 'Today (UTC)', ...currentWindow(known.day, 86_400, now) }] : []),
      ]
    : [];
  return (
    <section className="card" aria-labelledby="quota">
      <header className="usage-head">
        <h2 id="quota">
          Quota of the plan {plan.charAt(0)}
          {plan.slice(1).toLowerCase()}
        </h2>
        {!isBanned && <Strikes />}
      </header>
      {windows.length === 0 && <p className="muted">Shown after the first response.</p>}
      <div className="quotas">
        {windows.map(({ name, limit, remaining, resetAtMs }) => (
          <div className="quota" key={name}>
            <QuotaBar name={name} used={limit - remaining} limit={limit}>
              Resets in <Countdown untilMs={resetAtMs} />
            </QuotaBar>
          </div>
        ))}
      </div>
      {isBanned && <Ban />}
      <BannedKeys keys={apiKeys ?? []} />
    </section>
  );
}
