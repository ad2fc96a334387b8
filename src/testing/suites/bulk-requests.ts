import { IdempotencyKey } from '../../tenants/idempotency/idempotency-key.entity.js';
import { graphql } from '../http-client.js';
import type { Values } from '../inputs.js';
import type { Tenant } from '../tested-app.js';
import type { SuiteParts } from './suite.js';

/** The requests that create several records, by default with the key of the owner. */
export function bulkRequests({ noun, app }: Pick<SuiteParts, 'noun' | 'app'>, owner: () => Tenant) {
  const { createAll, newInput, fields, table } = noun.names;
  const CREATE = `mutation($inputs: [${newInput}!]!) { it: ${createAll}(inputs: $inputs) { ${fields} } }`;
  const send = (query: string, variables: Values = {}, headers = {}, { token } = owner()) =>
    graphql(app().url, query, { token, variables, headers });
  return {
    CREATE,
    send,
    numbered: (count: number) => Array.from({ length: count }, (_, at) => noun.input(at)),
    create: (inputs: unknown, key?: string, by?: Tenant) =>
      send(CREATE, { inputs }, key === undefined ? {} : { 'idempotency-key': key }, by),
    async stored({ projectId } = owner()) {
      const sql = `SELECT COUNT(*) AS rows_found FROM ${table} WHERE project_id = ${projectId}`;
      const [row] = await app().db.repository(IdempotencyKey).query(sql);
      return Number(row.rows_found);
    },
  };
}
