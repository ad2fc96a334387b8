import type { DataVersions } from '../data-versions.js';
import type { Database } from '../database/database.js';
import { Pet, type PetStatus } from './pet.entity.js';
import type { PetChanges } from './pet.rules.js';

export interface PetListRequest {
  pageSize: number;
  status: PetStatus | null;
  afterId: bigint | null;
}

export interface PetPage {
  pets: Pet[];
  hasNextPage: boolean;
}

// Digits as text: mysql2 takes several times as long to read a 64-bit integer exactly.
const COLUMNS =
  'CAST(id AS CHAR) AS pet_id, name, CAST(category_id AS CHAR) AS category, status, CAST(created_at_ms AS CHAR) AS created';
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
    const sql = `SELECT ${COLUMNS} FROM pets WHERE ${where} ORDER BY id LIMIT ?`;
    const rows = await this.db.read<PetRow>(String(projectId), sql, values);
    const pets = rows.map((row) => petOf(projectId, row)).sort((a, b) => (a.id < b.id ? -1 : 1));
    const hasNextPage = pets.length > pageSize;
    if (hasNextPage) pets.length = pageSize;
    return { pets, hasNextPage };
  }

  find(projectId: bigint, id: bigint): Promise<Pet | null> {
    return this.db.repository(Pet).findOneBy({ projectId, id });
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

interface PetRow {
  pet_id: string;
  name: string;
  category: string;
  status: PetStatus | null;
  created: string;
}

function petOf(projectId: bigint, { pet_id, name, category, status, created }: PetRow): Pet {
  return {
    projectId,
    id: BigInt(pet_id),
    name,
    categoryId: BigInt(category),
    status,
    createdAtMs: Number(created),
  };
}
