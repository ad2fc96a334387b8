import { WIDGET } from '../../../src/widgets/widget.description.js';
import type { TestNoun } from './test-noun.js';

export const WIDGETS: TestNoun = {
  description: WIDGET,
  input: (n) => ({ name: `Widget ${n}` }),
  change: (n) => ({ name: `Changed ${n}` }),
  invalid: [
    [{ name: '' }, ['name']],
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(201) }, ['name']],
    [{ name: 'a\u0000' }, ['name']],
  ],
  int64: null,
  filter: { field: 'state', values: ['active', 'archived'] },
  newestOverRest: 'order=newest',
  boundLists: () => [],
};
