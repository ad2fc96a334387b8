import { NOUN_WORDS } from '../../../gateway.js';
import { Countdown } from '../elements/countdown.js';
import { standing } from '../graphql/standing.js';

const LADDER_MINUTES = [1, 5, 30, 60];
const STRIKES_TO_BAN = 10;

/** How long the ban of this key and the next ones last. */
export function Ban() {
  const ban = standing.use()?.ban ?? null;
  return (
    <div className="ban">
      <p className="figure">
        Banned, <Countdown untilMs={ban?.until ? Date.parse(ban.until) : 0} /> left
      </p>
      <p>
        {STRIKES_TO_BAN} requests for {NOUN_WORDS} after a 429 and before its Retry-After ban a key. A ban
        covers only requests for {NOUN_WORDS}.
      </p>
      <p className="label" id="ladder">
        How long a ban lasts
      </p>
      <ol className="ladder" aria-labelledby="ladder">
        {LADDER_MINUTES.map((minutes) => {
          const isNext = ban?.nextStepMinutes === minutes;
          return (
            <li key={minutes} className={isNext ? 'next' : undefined}>
              {minutes} min{isNext && <span className="note"> next</span>}
            </li>
          );
        })}
      </ol>
      <p className="muted">Each hour without a strike goes one step back.</p>
    </div>
  );
}

/** The line about a key that is not banned. */
export function Strikes() {
  const strikes = standing.use()?.ban?.strikes ?? 0;
  return (
    <p className="muted">
      {strikes === 0
        ? 'This key is not banned and has no strikes.'
        : `This key is not banned, and has ${strikes} of ${STRIKES_TO_BAN} strikes.`}
    </p>
  );
}
