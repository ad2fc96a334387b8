import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, petstoreHere } from '../command-line.js';
import { createTestDatabase, type DatabaseKind, type TestDatabase } from '../databases.js';
import { onDatabase } from './every-table.js';

/** A folder for backups, and databases to write and copy them. */
export class Backups {
  private files = 0;
  private readonly databases: TestDatabase[] = [];

  private constructor(readonly folder: string) {}

  static async make(): Promise<Backups> {
    return new Backups(await mkdtemp(join(tmpdir(), 'petstore-backup-')));
  }

  async remove(): Promise<void> {
    for (const database of this.databases) await database.remove();
    await rm(this.folder, { recursive: true });
  }

  newFile(): string {
    this.files += 1;
    return join(this.folder, `backup-${this.files}.sqlite`);
  }

  /** The address of an empty database. */
  async newDatabase(kind: DatabaseKind): Promise<string> {
    const database = await createTestDatabase(kind);
    this.databases.push(database);
    return database.url;
  }

  async migrated(kind: DatabaseKind): Promise<string> {
    const databaseUrl = await this.newDatabase(kind);
    await petstoreHere(['migrate'], { databaseUrl });
    return databaseUrl;
  }

  /** A migrated database with a power of two of toys. */
  async withToys(kind: DatabaseKind, toys: number): Promise<string> {
    const databaseUrl = await this.migrated(kind);
    await onDatabase(databaseUrl, async (data) => {
      const insert = 'INSERT INTO toys (project_id, id, name, category_id, created_at_ms)';
      await data.query(`${insert} VALUES (1, 1, 'Rex the ${'very '.repeat(20)}first', 1, 1)`);
      for (let id = 1; id < toys; id *= 2) {
        await data.query(`${insert} SELECT 1, id + ${id}, name, 1, 1 FROM toys`);
      }
    });
    return databaseUrl;
  }
}

export function backup(databaseUrl: string, ...args: string[]): Promise<Ended> {
  return petstoreHere(['backup', ...args, '--json'], { databaseUrl });
}

export function copy(from: string, into: string, ...args: string[]): Promise<Ended> {
  return petstoreHere(['copy', '--from', from, '--into', into, ...args, '--json']);
}

interface Written {
  result: Ended;
  /** The number of transactions. */
  transactions: number;
}

/** Runs a command while another program writes to three tables of its database, in one transaction each time. */
export async function whileWritten(databaseUrl: string, run: () => Promise<Ended>): Promise<Written> {
  return onDatabase(databaseUrl, async (data) => {
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    let transactions = 0;
    for (; !isOver; transactions += 1) {
      const id = 1_000_000 + transactions;
      await data.transaction(async (manager) => {
        const order =
          'INSERT INTO acme_orders (id, domain_id, project_id, hostname, registrable_domain, is_renewal, started_at_ms)';
        const toy = 'INSERT INTO toys (project_id, id, name, category_id, created_at_ms)';
        // `acme_orders` is read before `toys`, `usage_by_dimension` after it.
        await manager.query(`${order} VALUES (${id}, 1, 1, 'a', 'a', 0, 1)`);
        await manager.query(`${toy} VALUES (2, ${id}, 'New', 1, 1)`);
        await manager.query(
          `INSERT INTO usage_by_dimension VALUES (1, 'day', 'door', ${id}, 'rest', 1, 0, 0, 1)`,
        );
      });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return { result: await running, transactions };
  });
}

export async function countOf(databaseUrl: string, table: string): Promise<number> {
  return onDatabase(databaseUrl, async (data) => {
    const [row] = await data.query(`SELECT COUNT(*) AS count FROM ${table}`).catch(() => []);
    return Number(row?.count ?? 0);
  });
}
