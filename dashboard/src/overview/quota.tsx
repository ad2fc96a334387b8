import { Countdown } from '../elements/countdown.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';
import { QuotaBar } from './quota-bar.js';
import { currentWindow } from './quota-window.js';

/** Both windows, as the newest answer said, and as time alone has changed them since. */
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
      {windows.length === 0 && <p className="muted">Known with the first answer.</p>}
      {windows.map(({ name, limit, remaining, resetAtMs }) => (
        <div className="quota" key={name}>
          <QuotaBar name={name} used={limit - remaining} limit={limit} />
          <p className="muted">
            Begins anew in <Countdown untilMs={resetAtMs} />
          </p>
        </div>
      ))}
    </section>
  );
}
