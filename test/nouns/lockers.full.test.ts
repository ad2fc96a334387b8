import { anyDatabase } from '../support/databases.js';
import { LOCKERS } from '../support/nouns/lockers.js';
import { suitesOn } from './suites.js';

suitesOn(
  LOCKERS,
  {
    noun: 'locker',
    input: (n) => ({ pin: `${1000 + (n % 9000)}`, place: `Hall ${n}` }),
    change: (n) => ({ place: `Change ${n}`, pin: '9999' }),
  },
  [anyDatabase()],
);
