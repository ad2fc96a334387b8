import { Countdown } from '../elements/countdown.js';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';

const LADDER_MINUTES = [1, 5, 30, 60];
const STRIKES_TO_BAN = 10;

export function BanLadder() {
  const now = useNow();
  const ban = standing.use()?.ban ?? null;
  const untilMs = ban?.until ? Date.parse(ban.until) : 0;
  const isBanned = untilMs > now;
  return (
    <section className="card" aria-labelledby="ban">
      <h2 id="ban">Bans of this key</h2>
      <p className="figure">
        {isBanned ? (
          <>
            Banned, <Countdown untilMs={untilMs} /> left
          </>
        ) : (
          'Not banned'
        )}
      </p>
      <p>
        {ban?.strikes ?? 0} of {STRIKES_TO_BAN} strikes. A strike is a request for pets made after a 429 and
        before its Retry-After. A ban covers only requests for pets.
      </p>
      <p className="label" id="ladder">
        How long a ban lasts
      </p>
      <ol className="ladder" aria-labelledby="ladder">
        {LADDER_MINUTES.map((minutes) => {
          const isNext = (ban?.nextStepMinutes ?? LADDER_MINUTES[0]) === minutes;
          return (
            <li key={minutes} className={isNext ? 'next' : undefined}>
              {minutes} min{isNext && <span className="note"> next</span>}
            </li>
          );
        })}
      </ol>
      <p className="muted">Each hour without a strike goes one step back.</p>
    </section>
  );
}
