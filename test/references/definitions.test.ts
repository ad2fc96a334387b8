import { expect, test } from '@jest/globals';
import { createGateway } from '../../src/app/gateway.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { reference } from '../../src/noun/kinds/reference.js';
import { text } from '../../src/noun/kinds/text.js';
import { rest } from '../support/http/client.js';
import { startStores } from '../support/references/stores.js';

const name = text({});
const boxWith = (fields: Parameters<typeof defineNoun>[0]['fields']) =>
  defineNoun({ name: 'box', fields: { name, ...fields } });
const shelf = defineNoun({ name: 'shelf', plural: 'shelves', fields: { name, boxes: text({}) } });

test.each<[problem: string, define: () => unknown]>([
  ['the reference shelf does not end in Id', () => boxWith({ shelf: reference('shelf', {}) })],
  ['"id" cannot be a name', () => boxWith({ shelfId: reference('shelf', { as: 'id' }) })],
  ['"valueOf" cannot be a name', () => boxWith({ shelfId: reference('shelf', { as: 'valueOf' }) })],
  ['list and onDelete of the reference', () => boxWith({ shelfId: reference('shelf', { list: 'boxes' }) })],
  [
    'list and onDelete of the reference',
    () => boxWith({ shelfId: reference('shelf', { onDelete: 'refuse' }) }),
  ],
  [
    'needs optional: true',
    () => boxWith({ shelfId: reference('shelf', { filter: true, onDelete: 'unset' }) }),
  ],
  [
    'onDelete of shelfId is allow, refuse or unset, not cascade',
    () => boxWith({ shelfId: reference('shelf', { filter: true, onDelete: 'cascade' as 'unset' }) }),
  ],
  [
    "The noun box can't be served: shelfId refers to the noun rack, and the gateway has only box, shelf.",
    () => gatewayOf(boxWith({ shelfId: reference('rack', {}) })),
  ],
  [
    "The noun box can't be served: it would have two fields name. Give nameId of box another `as`.",
    () => gatewayOf(boxWith({ nameId: reference('shelf', {}) })),
  ],
  [
    "The noun shelf can't be served: it would have two fields boxes. Give shelfId of box another `list`.",
    () => gatewayOf(boxWith({ shelfId: reference('shelf', { filter: true }) })),
  ],
  [
    'Give toId of box another `list`.',
    () =>
      gatewayOf(
        boxWith({
          fromId: reference('shelf', { filter: true, list: 'parts' }),
          toId: reference('shelf', { filter: true, list: 'parts' }),
        }),
      ),
  ],
])('Reference-31: a reference that cannot work is refused at the start: %s', (problem, define) => {
  expect(define).toThrow(problem);
});

test('Reference-32: a noun can refer to itself, and to one noun twice', () => {
  const parts = {
    parentId: reference('box', { filter: true, optional: true }),
    fromId: reference('shelf', { filter: true, list: 'sent' }),
    toId: reference('shelf', { filter: true, list: false }),
  };
  const { nouns } = gatewayOf(boxWith(parts));
  expect(nouns[0].description.fields.flatMap(({ reference: each }) => each ?? [])).toEqual([
    { noun: 'box', as: 'parent', list: 'boxes', mustExist: false, onDelete: 'allow' },
    { noun: 'shelf', as: 'from', list: 'sent', mustExist: false, onDelete: 'allow' },
    { noun: 'shelf', as: 'to', list: null, mustExist: false, onDelete: 'allow' },
  ]);
});

test('Reference-33: REST has an int64 whose description names the other resource', async () => {
  const { app } = await startStores('sqlite');
  try {
    const { body } = await rest(app.url, '/v1/openapi.json');
    expect(body.components.schemas.Pallet.properties.warehouseId).toEqual({
      type: 'integer',
      format: 'int64',
      description: "The identifier of the pallet's warehouse.",
      examples: [4711],
    });
  } finally {
    await app.stop();
  }
});

const gatewayOf = (box: ReturnType<typeof defineNoun>) =>
  createGateway({ name: 'Boxes', nouns: [box, shelf] });
