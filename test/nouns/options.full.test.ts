import { anyDatabase } from '../support/databases.js';
import { OFFERS } from '../support/nouns/offers.js';
import { SEATS } from '../support/nouns/seats.js';
import stores, { PALLETS } from '../support/nouns/stores.js';
import { suitesOn } from './suites.js';

// Deliveries have actions with input.
suitesOn(stores, PALLETS, [anyDatabase()]);
suitesOn(
  OFFERS,
  {
    noun: 'offer',
    input: (n) => ({ title: `Offer ${n}`, costCents: String(n), supplier: 'Acme' }),
    change: (n) => ({ title: `Changed ${n}` }),
  },
  [anyDatabase()],
);
suitesOn(
  SEATS,
  {
    noun: 'seat',
    input: (n) => ({ hall: 1n, startsAt: '2026-12-24T18:00:00.000Z', number: `A${n}` }),
    change: (n) => ({ number: `C${n}` }),
  },
  [anyDatabase()],
);
