import { createGateway } from '../../src/app/gateway.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { date } from '../../src/noun/kinds/date.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { anyDatabase } from '../support/databases.js';
import { suitesOn } from './suites.js';

/** No record is read by its id, no text is required, each record has one of two states, and its integer is small. */
const consoles = defineNoun({
  name: 'gameConsole',
  get: false,
  fields: {
    title: text({ max: 40, optional: true, filter: 'start' }),
    state: choice({ used: 'It was used.', sealed: 'It was not.' }, { filter: true }),
    soldOn: date({ optional: true, filter: true }),
    controllers: int64({ min: 0n, max: 10n }),
  },
});

class GameConsoles1790000000000 extends NewTable {
  table = consoles.table.table;
}

const gateway = createGateway({
  name: 'Game Consoles',
  nouns: [consoles],
  migrations: [GameConsoles1790000000000],
});

suitesOn(
  gateway,
  {
    noun: 'gameConsole',
    input: (n) => ({ title: `Console ${n}`, state: 'used', soldOn: '2026-01-01', controllers: 1n }),
    change: (n) => ({ title: `Changed ${n}` }),
  },
  [anyDatabase()],
);
