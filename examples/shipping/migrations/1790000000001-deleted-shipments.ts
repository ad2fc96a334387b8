import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table deleted_shipments. */
export class DeletedShipments1790000000001 extends NewTable {
  table = {
    name: 'deleted_shipments',
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
      { name: 'deleted_at_ms', type: 'bigint' },
    ],
    indices: [
      { name: 'deleted_shipments_newest', columnNames: ['project_id', 'deleted_at_ms', 'id'] },
      { name: 'deleted_shipments_oldest', columnNames: ['deleted_at_ms'] },
    ],
  };
}
