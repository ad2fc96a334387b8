import {
  boolean,
  choice,
  createGateway,
  dateTime,
  decimal,
  defineNoun,
  reference,
  refuse,
  text,
  texts,
} from 'petstore-gateway';

const warehouses = defineNoun({
  name: 'warehouse',
  fields: {
    name: text({ max: 60, filter: 'start', example: 'North' }),
    city: text({ max: 60, example: 'Zürich' }),
  },
  demo: [{ name: 'North', city: 'Zürich' }],
});

const shipments = defineNoun({
  name: 'shipment',
  fields: {
    trackingCode: text({ max: 32, unique: true, example: 'PX4711' }),
    warehouseId: reference('warehouse', {
      filter: true,
      optional: true,
      mustExist: true,
      onDelete: 'refuse',
    }),
    weightKg: decimal({ digits: 9, places: 3, min: '0.001', example: '12.500' }),
    fragile: boolean({ default: false, filter: true }),
    carrier: choice({ dhl: 'DHL', ups: 'UPS' }, { filter: true, default: 'dhl' }),
    tags: texts({ most: 10, max: 40, default: [], filter: 'has' }),
    dueAt: dateTime({ example: '2026-12-24T18:00:00.000Z' }),
    deliveredAt: dateTime({ optional: true, immutable: true, filter: 'range', sort: true }),
  },
  actions: (action) => ({
    deliver: action({
      input: { at: dateTime({ optional: true }) },
      run(shipment, { at }, { now }) {
        if (shipment.deliveredAt !== null) refuse(`It was delivered at ${shipment.deliveredAt}.`);
        return { deliveredAt: at ?? now };
      },
    }),
  }),
  computed: (computed) => ({
    isLate: computed(boolean(), ({ dueAt, deliveredAt }, { now }) => (deliveredAt ?? now) > dueAt),
  }),
  softDelete: true,
  demo: [{ trackingCode: 'PX4711', weightKg: '12.5', dueAt: '2026-12-24T18:00:00Z', tags: ['gift'] }],
});

export default createGateway({
  name: 'Shipping',
  nouns: [shipments, warehouses],
  migrations: new URL('./migrations/', import.meta.url),
});
