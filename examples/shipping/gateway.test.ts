import { nounSuites } from 'petstore-gateway/testing';
import gateway from './gateway.ts';

nounSuites(gateway, {
  noun: 'shipment',
  existing: { warehouse: [{ name: 'North', city: 'Zürich' }] },
  input: (n) => ({
    trackingCode: `PX${n}`,
    warehouseId: 1n,
    weightKg: '12.500',
    dueAt: '2026-12-24T18:00:00.000Z',
    tags: ['gift'],
  }),
  change: (n) => ({ trackingCode: `Changed ${n}` }),
  actions: { deliver: { refused: { record: { deliveredAt: '2026-01-01T00:00:00.000Z' } } } },
});
