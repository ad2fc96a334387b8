import { createGateway, date, defineNoun, integer, text } from 'petstore-gateway';

const members = defineNoun({
  name: 'member',
  fields: {
    name: text({ max: 100, filter: 'start', example: 'Ada Lovelace' }),
    cardNumber: text({
      max: 8,
      pattern: /^\d{8}$/,
      rule: 'must be the eight digits of a card',
      unique: true,
      immutable: true,
      example: '10000001',
    }),
    joinedOn: date({ example: '2026-01-31' }),
  },
  count: true,
  demo: [
    { name: 'Ada Lovelace', cardNumber: '10000001', joinedOn: '2025-12-10' },
    { name: 'Alan Turing', cardNumber: '10000002', joinedOn: '2026-06-23' },
  ],
});

const loans = defineNoun({
  name: 'loan',
  fields: {
    title: text({ max: 200, example: 'Moby Dick' }),
    cardNumber: text({ max: 8, pattern: /^\d{8}$/, filter: 'whole', example: '10000001' }),
    lentOn: date({ example: '2026-02-01' }),
    returnedOn: date({ optional: true, example: '2026-02-20' }),
    renewals: integer({ min: 0, max: 3, default: 0 }),
  },
  count: true,
  check: ({ lentOn, returnedOn }) =>
    returnedOn !== null && returnedOn < lentOn
      ? [{ field: 'returnedOn', message: 'must not be before the day of the loan' }]
      : [],
  demo: [{ title: 'Moby Dick', cardNumber: '10000001', lentOn: '2026-02-01' }],
});

export default createGateway({
  name: 'City Library',
  nouns: [members, loans],
  migrations: new URL('./migrations/', import.meta.url),
});
