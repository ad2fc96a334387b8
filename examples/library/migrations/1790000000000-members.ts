import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table members. */
export class Members1790000000000 extends NewTable {
  table = {
    name: 'members',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'name', type: 'varchar', length: '100' },
      { name: 'card_number', type: 'varchar', length: '8' },
      { name: 'joined_on', type: 'varchar', length: '10' },
      { name: 'created_at_ms', type: 'bigint' },
    ],
    indices: [
      {
        name: 'members_name',
        columnNames: ['project_id', 'name', 'id', 'card_number', 'joined_on', 'created_at_ms'],
      },
      { name: 'members_card_number', columnNames: ['project_id', 'card_number'], isUnique: true },
    ],
  };
}
