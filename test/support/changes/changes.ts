import { graphql, rest } from '../http/client.js';
import { TEST_ACTOR, type Tenant, type TestApp } from '../start-app.js';

/** A change as GraphQL shows it. */
interface ShownChange {
  cursor: string;
  kind: string;
  at: string;
  toy: { id: string; name: string; categoryId: string; status: string | null; createdAt: string };
}

const TOY_FIELDS = 'id name categoryId status createdAt';
const CHANGES = `query($first: Int, $after: String, $status: ToyStatus) {
  toyChanges(first: $first, after: $after, status: $status) {
    nodes { cursor kind at toy { ${TOY_FIELDS} } } pageInfo { hasNextPage endCursor }
  }
}`;

/** Switches the project's change log on, and lets the time pass until it opens. */
export async function openLog(app: TestApp, { slug }: Pick<Tenant, 'slug'>): Promise<void> {
  await app.app.services.projects.change(TEST_ACTOR, slug, { isLogged: true });
  app.clock.now += 15_000;
}

/** Switches the log off; the keys of the project know it. */
export async function closeLog(app: TestApp, { slug }: Pick<Tenant, 'slug'>): Promise<void> {
  await app.app.services.projects.change(TEST_ACTOR, slug, { isLogged: false });
  app.clock.now += 1_000;
}

/** A client of a project's change log. */
export function changesClient(app: () => TestApp, owner: () => Tenant) {
  const send = async (query: string, variables: Record<string, unknown> = {}, headers = {}) => {
    const { body } = await graphql(app().url, query, { token: owner().token, variables, headers });
    return body;
  };
  return {
    send,
    async changes(variables: { first?: number; after?: string | null; status?: string } = {}) {
      const { data, errors } = await send(CHANGES, variables);
      if (errors) throw new Error(JSON.stringify(errors));
      return data.toyChanges as {
        nodes: ShownChange[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    },
    refusal: async (variables: object) => (await send(CHANGES, { ...variables })).errors?.[0],
    async list(args = 'first: 100') {
      const { data } = await send(`{ toys(${args}) { changesCursor nodes { ${TOY_FIELDS} } } }`);
      return data.toys as { changesCursor: string | null; nodes: ShownChange['toy'][] };
    },
    async create(name: string, status: string | null = null): Promise<string> {
      const input = { name, categoryId: '1', status };
      const { data } = await send('mutation($input: NewToy!) { createToy(input: $input) { id } }', { input });
      return data.createToy.id;
    },
    async update(id: string, input: object) {
      await send('mutation($id: ID!, $input: ToyChanges!) { updateToy(id: $id, input: $input) { id } }', {
        id,
        input,
      });
    },
    async delete(id: string) {
      await send('mutation($id: ID!) { deleteToy(id: $id) { id } }', { id });
    },
    rest: (path: string) => rest(app().url, `/v1${path}`, { token: owner().token }),
  };
}
