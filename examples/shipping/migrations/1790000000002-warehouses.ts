import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table warehouses. */
export class Warehouses1790000000002 extends NewTable {
  table = {
    name: 'warehouses',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'name', type: 'varchar', length: '60' },
      { name: 'city', type: 'varchar', length: '60' },
      { name: 'created_at_ms', type: 'bigint' },
    ],
    indices: [
      {
        name: 'warehouses_name',
        columnNames: ['project_id', 'name', 'id', 'city', 'created_at_ms'],
      },
    ],
  };
}
