import { createPool } from 'mysql2/promise';

const { DATABASE_URL, PROJECT_ID } = process.env;
const pool = createPool({
  uri: DATABASE_URL,
  connectionLimit: 10,
  supportBigNumbers: true,
  bigNumberStrings: true,
});
const PAGE = 'SELECT id, name, category_id AS categoryId, status FROM pets WHERE project_id = ?';
const FIRST = `${PAGE} ORDER BY id LIMIT 21`;
const NEXT = `${PAGE} AND id > ? ORDER BY id LIMIT 21`;
const INSERT =
  'INSERT INTO pets (project_id, id, name, category_id, status, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)';

/** A page of 20, as every peer reads it: one prepared statement for 21 rows. `after` is a plain id. */
export async function listPets(after) {
  const [rows] = await pool.execute(after ? NEXT : FIRST, after ? [PROJECT_ID, String(after)] : [PROJECT_ID]);
  return { nodes: rows.slice(0, 20), hasNextPage: rows.length > 20, endCursor: rows[19]?.id ?? null };
}

let lastId = Date.now() * 1_000;

export async function createPet({ name, categoryId, status = null }) {
  lastId += 1;
  await pool.execute(INSERT, [PROJECT_ID, lastId, name, categoryId, status, Date.now()]);
  return { id: lastId, name, categoryId, ...(status === null ? {} : { status }) };
}

export const typeDefs = /* GraphQL */ `
  enum PetStatus { available pending sold }
  type Pet { id: ID! name: String! categoryId: ID! status: PetStatus }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type PetConnection { nodes: [Pet!]! pageInfo: PageInfo! }
  type Query { pets(first: Int = 20, after: String): PetConnection! }
`;

export const resolvers = {
  Query: {
    pets: async (_, { after }) => {
      const { nodes, ...pageInfo } = await listPets(after);
      return { nodes, pageInfo };
    },
  },
};
