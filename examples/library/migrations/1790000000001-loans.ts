import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table loans. */
export class Loans1790000000001 extends NewTable {
  table = {
    name: 'loans',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'title', type: 'varchar', length: '200' },
      { name: 'card_number', type: 'varchar', length: '8' },
      { name: 'lent_on', type: 'varchar', length: '10' },
      { name: 'returned_on', type: 'varchar', length: '10', isNullable: true },
      { name: 'renewals', type: 'integer', default: '0' },
      { name: 'created_at_ms', type: 'bigint' },
    ],
    indices: [
      {
        name: 'loans_card_number',
        columnNames: [
          'project_id',
          'card_number',
          'id',
          'title',
          'lent_on',
          'returned_on',
          'renewals',
          'created_at_ms',
        ],
      },
    ],
  };
}
