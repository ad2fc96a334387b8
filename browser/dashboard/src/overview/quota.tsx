import { Countdown } from '../elements/countdown.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';
import { QuotaBar } from './quota-bar.js';
import { currentWindow } from './quota-window.js';

/** Both windows as in the newest response, updated for the time that has passed since. */
export function Quota() {
  const now = useNow();
  const known = standing.use();
  const windows = known
    ? [
        { name: 'This minute', ...currentWindow(known.minute, 60, now) },
        ...(known.day ? [{ name: 'Today (UTC)', ...currentWindow(known.day, 86_400, now) }] : []),
      ]
    : [];
  return (
    <section className="card" aria-labelledby="quota">
      <h2 id="quota">Usage</h2>
      {windows.length === 0 && <p className="muted">Shown after the first response.</p>}
      {windows.map(({ name, limit, remaining, resetAtMs }) => (
        <div className="quota" key={name}>
          <QuotaBar name={name} used={limit - remaining} limit={limit} />
          <p className="muted">
            Resets in <Countdown untilMs={resetAtMs} />
          </p>
        </div>
      ))}
    </section>
  );
}
