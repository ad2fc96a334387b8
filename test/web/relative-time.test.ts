import { expect, test } from '@jest/globals';
import { relativeTo } from '../../browser/dashboard/src/elements/relative-time.js';

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const MINUTES = 60;
const HOURS = 60 * MINUTES;
const DAYS = 24 * HOURS;

test.each([
  [-20, 'just now'],
  [20, 'in a moment'],
  [-89, '1 minute ago'],
  [-119 * MINUTES, '2 hours ago'],
  [-(59 * MINUTES + 45), '1 hour ago'],
  [23 * HOURS + 45 * MINUTES, 'tomorrow'],
  [-47 * HOURS, '2 days ago'],
  [7 * DAYS, 'in 7 days'],
  [-8 * DAYS, 'Nov 15, 2026'],
  [40 * DAYS, 'Jan 2, 2027'],
])(
  'Dashboard-78: a time that is %i s away is rounded within a week, and a date beyond: %s',
  (seconds, words) => {
    expect(relativeTo(NOW_MS, NOW_MS + seconds * 1_000)).toBe(words);
  },
);
