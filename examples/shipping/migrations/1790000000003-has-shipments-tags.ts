import { NewFilledTable } from 'petstore-gateway/migrations';

/** Creates the table has_shipments_tags, and fills it from shipments. */
export class HasShipmentsTags1790000000003 extends NewFilledTable {
  table = {
    name: 'has_shipments_tags',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'tags', type: 'varchar', length: '40', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'warehouse_id', type: 'bigint', isNullable: true },
      { name: 'fragile', type: 'integer' },
      { name: 'carrier', type: 'varchar', length: '16' },
    ],
    indices: [
      {
        name: 'has_shipments_tags__warehouse_id',
        columnNames: ['project_id', 'tags', 'warehouse_id', 'id'],
      },
      { name: 'has_shipments_tags__fragile', columnNames: ['project_id', 'tags', 'fragile', 'id'] },
      {
        name: 'has_shipments_tags__warehouse_id_fragile',
        columnNames: ['project_id', 'tags', 'warehouse_id', 'fragile', 'id'],
      },
      { name: 'has_shipments_tags__carrier', columnNames: ['project_id', 'tags', 'carrier', 'id'] },
      {
        name: 'has_shipments_tags__warehouse_id_carrier',
        columnNames: ['project_id', 'tags', 'warehouse_id', 'carrier', 'id'],
      },
      {
        name: 'has_shipments_tags__fragile_carrier',
        columnNames: ['project_id', 'tags', 'fragile', 'carrier', 'id'],
      },
      {
        name: 'has_shipments_tags__warehouse_id_fragile_carrier',
        columnNames: ['project_id', 'tags', 'warehouse_id', 'fragile', 'carrier', 'id'],
      },
    ],
    filledFrom: 'shipments',
  };
}
