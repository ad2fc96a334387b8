import { loadGateway } from '../../../src/app/gateway.js';
import type { Scope } from '../../../src/ground/kernel/caller.js';
import type { DatabaseKind } from '../databases.js';
import { graphql } from '../http/client.js';
import stores from '../nouns/stores.js';
import { startApp, type TestApp } from '../start-app.js';

/** The gateway of the stores, with the statements that it sends to their tables. */
export async function startStores(kind: DatabaseKind) {
  const statements: string[] = [];
  const isOfStores = /`?(warehouses|crates|pallets|bins|sections)\b/;
  const app: TestApp = await startApp({
    kind,
    gateway: await loadGateway(stores),
    onQuery: (sql) => {
      if (isOfStores.test(sql)) statements.push(sql);
    },
  });
  return { app, statements, tenant: (scopes?: readonly Scope[]) => tenantOf(app, scopes) };
}

type Input = Readonly<Record<string, unknown>>;
export type Stores = Awaited<ReturnType<typeof startStores>>;
export type StoresTenant = Awaited<ReturnType<typeof tenantOf>>;

async function tenantOf(app: TestApp, scopes?: readonly Scope[]) {
  const tenant = await app.tenant(scopes && { scopes });
  const ask = async (query: string, variables?: Input) =>
    (await graphql(app.url, query, { token: tenant.token, ...(variables && { variables }) })).body;
  return {
    ...tenant,
    ask,
    /** Creates records, and returns their identifiers. */
    async create(noun: string, inputs: readonly Input[]): Promise<string[]> {
      const ids: string[] = [];
      const type = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
      for (let at = 0; at < inputs.length; at += 100) {
        const query = `mutation ($inputs: [New${type}!]!) { it: create${type}s(inputs: $inputs) { id } }`;
        const { data, errors } = await ask(query, { inputs: inputs.slice(at, at + 100) });
        if (errors) throw new Error(JSON.stringify(errors));
        ids.push(...data.it.map(({ id }: { id: string }) => id));
      }
      return ids;
    },
  };
}

/** Warehouses 0, 1, 2… */
export const warehouseInputs = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ name: `North ${from + at}`, city: 'Oslo' }));
