import { lasting } from '../elements/countdown.js';
import { SPARED } from '../files/paced.js';

/** The gateway adds no more in a minute, whatever the plan. */
const MOST_PER_MINUTE = 300;

/** How long an import takes, in words; empty = less than a minute. */
export function inMinutes(pets: number, limitPerMinute = MOST_PER_MINUTE): string {
  const perMinute = Math.min(limitPerMinute * (1 - SPARED), MOST_PER_MINUTE);
  const minutes = Math.floor(pets / perMinute);
  return minutes === 0 ? '' : `This takes about ${lasting(minutes * 60).replace(/ 0 s$/, '')}.`;
}
