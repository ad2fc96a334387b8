import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table shipments. */
export class Shipments1790000000000 extends NewTable {
  table = {
    name: 'shipments',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'tracking_code', type: 'varchar', length: '32' },
      { name: 'warehouse_id', type: 'bigint', isNullable: true },
      { name: 'weight_kg', type: 'decimal', precision: 9, scale: 3 },
      { name: 'fragile', type: 'integer', default: '0' },
      { name: 'carrier', type: 'varchar', length: '16', default: "'dhl'" },
      { name: 'tags', type: 'varchar', length: '2432', default: "'[]'" },
      { name: 'due_at', type: 'bigint' },
      { name: 'delivered_at', type: 'bigint', isNullable: true },
      { name: 'created_at_ms', type: 'bigint' },
    ],
    indices: [
      { name: 'shipments_delivered_at', columnNames: ['project_id', 'delivered_at', 'id'] },
      { name: 'shipments_warehouse_id', columnNames: ['project_id', 'warehouse_id', 'id'] },
      {
        name: 'shipments_warehouse_id_delivered_at',
        columnNames: ['project_id', 'warehouse_id', 'delivered_at', 'id'],
      },
      { name: 'shipments_fragile', columnNames: ['project_id', 'fragile', 'id'] },
      {
        name: 'shipments_fragile_delivered_at',
        columnNames: ['project_id', 'fragile', 'delivered_at', 'id'],
      },
      {
        name: 'shipments_warehouse_id_fragile',
        columnNames: ['project_id', 'warehouse_id', 'fragile', 'id'],
      },
      {
        name: 'shipments_warehouse_id_fragile_delivered_at',
        columnNames: ['project_id', 'warehouse_id', 'fragile', 'delivered_at', 'id'],
      },
      { name: 'shipments_carrier', columnNames: ['project_id', 'carrier', 'id'] },
      {
        name: 'shipments_carrier_delivered_at',
        columnNames: ['project_id', 'carrier', 'delivered_at', 'id'],
      },
      {
        name: 'shipments_warehouse_id_carrier',
        columnNames: ['project_id', 'warehouse_id', 'carrier', 'id'],
      },
      {
        name: 'shipments_warehouse_id_carrier_delivered_at',
        columnNames: ['project_id', 'warehouse_id', 'carrier', 'delivered_at', 'id'],
      },
      { name: 'shipments_fragile_carrier', columnNames: ['project_id', 'fragile', 'carrier', 'id'] },
      {
        name: 'shipments_fragile_carrier_delivered_at',
        columnNames: ['project_id', 'fragile', 'carrier', 'delivered_at', 'id'],
      },
      {
        name: 'shipments_warehouse_id_fragile_carrier',
        columnNames: ['project_id', 'warehouse_id', 'fragile', 'carrier', 'id'],
      },
      {
        name: 'shipments_warehouse_id_fragile_carrier_delivered_at',
        columnNames: ['project_id', 'warehouse_id', 'fragile', 'carrier', 'delivered_at', 'id'],
      },
      {
        name: 'shipments_tracking_code',
        columnNames: ['project_id', 'tracking_code'],
        isUnique: true,
      },
    ],
  };
}
