import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { toys } from './toys.js';

/** Its name is older than that of the first change of a table, as a noun's first migration is. */
export class Toys1780000001000 extends NewTables {
  protected readonly tables = [new Table(toys.table.table)];
  protected override readonly collation = exactCollation;
}
