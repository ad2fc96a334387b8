import { In } from 'typeorm';
import type { DataVersions } from '../data-versions.js';
import type { Database } from '../database/database.js';
import { Pet, type PetStatus } from './pet.entity.js';
import type { PetChanges } from './pet.rules.js';

export interface PetListRequest {
  pageSize: number;
  status: PetStatus | null;
  afterId: bigint | null;
}

/** A row of a list. Its 64-bit integers are digits, as they leave again. */
export interface ListedPet {
  id: string;
  name: string;
  categoryId: string;
  status: PetStatus | null;
  createdAtMs: string;
}

export interface PetPage {
  pets: ListedPet[];
  hasNextPage: boolean;
}

// Digits as text: mysql2 takes several times as long to read a 64-bit integer exactly.
const COLUMNS =
  'CAST(id AS CHAR) AS id, name, CAST(category_id AS CHAR) AS categoryId, status, CAST(created_at_ms AS CHAR) AS createdAtMs';
const INSERT =
  'INSERT INTO pets (project_id, id, name, category_id, status, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)';

/**
 * The rows of pets. Lists and inserts are what clients ask for most: prepared statements and plain rows, which cost a
 * third of what TypeORM's query builder and entities do. Every write renews the version of the project's data.
 */
export class PetStore {
  constructor(
    private readonly db: Database,
    private readonly versions: DataVersions,
  ) {}

  /** One query, by index, however far the page. */
  async page(projectId: bigint, { pageSize, status, afterId }: PetListRequest): Promise<PetPage> {
    const values: unknown[] = [projectId];
    let where = 'project_id = ?';
    if (status !== null) {
      where += ' AND status = ?';
      values.push(status);
    }
    if (afterId !== null) {
      where += ' AND id > ?';
      values.push(afterId);
    }
    values.push(pageSize + 1);
    // Without the name of the table, these would be the digits.
    const sql = `SELECT ${COLUMNS} FROM pets WHERE ${where} ORDER BY pets.id LIMIT ?`;
    const pets = await this.db.read<ListedPet>(String(projectId), sql, values);
    pets.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    const hasNextPage = pets.length > pageSize;
    if (hasNextPage) pets.length = pageSize;
    return { pets, hasNextPage };
  }

  find(projectId: bigint, id: bigint): Promise<Pet | null> {
    return this.db.repository(Pet).findOneBy({ projectId, id });
  }

  /** Those of the ids that are pets of the project, in any order. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Pet[]> {
    return this.db.repository(Pet).findBy({ projectId, id: In([...ids]) });
  }

  /** Throws what the driver throws, for an id that is taken as `isDuplicate` knows it. */
  async insert({ projectId, id, name, categoryId, status, createdAtMs }: Pet): Promise<void> {
    const values = [projectId, id, name, categoryId, status, createdAtMs];
    await this.versions.change(projectId, () => this.db.write(() => this.db.execute(INSERT, values)));
  }

  async update(projectId: bigint, id: bigint, changes: PetChanges): Promise<void> {
    const pets = this.db.repository(Pet);
    await this.versions.change(projectId, () => this.db.write(() => pets.update({ projectId, id }, changes)));
  }
}

/** Ids are never negative. */
function isBefore({ id: a }: ListedPet, { id: b }: ListedPet): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
