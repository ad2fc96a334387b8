import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { petstore } from '../command-line.js';
import { eventually } from '../eventually.js';
import { graphql, rest } from '../http/client.js';
import type { FaultyGateway, Tenant } from './faulty-gateway.js';

/** The knowledge of a client after its request: `done` and `refused` are promises, `unknown` is none. */
export interface Outcome {
  readonly kind: 'done' | 'refused' | 'unknown';
  /** The code of the error, or why there was no answer. */
  readonly reason: string;
}

/** A request for one write. */
export interface Attempt {
  readonly name: string;
  /** May be called again, as a client repeats its request. */
  send(headers: Record<string, string>): Promise<Outcome>;
  /** How often the database has the effect. A part of it is a broken number. */
  stored(): Promise<number>;
}

export interface Write {
  readonly name: string;
  /** The act in the audit log, which has it once for each effect. */
  readonly act?: string;
  /** The next write of this name replaces the effect. */
  readonly isReplaced?: true;
  /** Prepares a new attempt, without a fault. */
  begin(gateway: FaultyGateway, tenant: Tenant): Promise<Attempt>;
}

let names = 0;
const freshName = () => `n-${process.pid}-${++names}`;

const TOY_INPUT = (name: string) => ({ name, categoryId: '1' });

/** The writes of toys: the change log has them, and an Idempotency-Key makes each happen once. */
export const TOY_WRITES: readonly Write[] = [
  {
    name: 'createToy',
    begin: async (gateway, tenant) => newToy(gateway, tenant, freshName()),
  },
  {
    name: 'POST /v1/toys',
    async begin(gateway, tenant) {
      const name = freshName();
      const init = { method: 'POST', token: tenant.token, body: { name, categoryId: 1 } };
      return {
        name,
        send: (headers) => outcomeOf(() => rest(gateway.url, '/v1/toys', { ...init, headers })),
        stored: () => toysNamed(gateway, tenant, name),
      };
    },
  },
  {
    name: 'createToys',
    async begin(gateway, tenant) {
      const name = freshName();
      const inputs = [1, 2, 3].map((number) => TOY_INPUT(`${name}-${number}`));
      const query = 'mutation ($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id } }';
      return {
        name,
        send: (headers) => mutate(gateway, tenant, query, { inputs }, headers),
        stored: async () =>
          (await gateway.count('toys WHERE project_id = ? AND name LIKE ?', [
            tenant.projectId,
            `${name}-%`,
          ])) / inputs.length,
      };
    },
  },
  {
    name: 'updateToy',
    async begin(gateway, tenant) {
      const id = await madeToy(gateway, tenant);
      const name = freshName();
      const query = 'mutation ($id: ID!, $name: String!) { updateToy(id: $id, input: {name: $name}) { id } }';
      return {
        name,
        send: (headers) => mutate(gateway, tenant, query, { id, name }, headers),
        stored: () => toysNamed(gateway, tenant, name),
      };
    },
  },
  {
    name: 'deleteToy',
    async begin(gateway, tenant) {
      const id = await madeToy(gateway, tenant);
      const query = 'mutation ($id: ID!) { deleteToy(id: $id) { id } }';
      return {
        name: `deletion of ${id}`,
        send: (headers) => mutate(gateway, tenant, query, { id }, headers),
        stored: async () =>
          1 - (await gateway.count('toys WHERE project_id = ? AND id = ?', [tenant.projectId, BigInt(id)])),
      };
    },
  },
];

/** The writes of management, which the change log does not have. */
export const MANAGEMENT_WRITES: readonly Write[] = [
  {
    name: 'createApiKey',
    act: 'key.create',
    begin: async (gateway, tenant) => newKey(gateway, tenant, freshName()),
  },
  {
    name: 'renameApiKey',
    act: 'key.rename',
    async begin(gateway, tenant) {
      const { id } = await madeKey(gateway, tenant);
      const name = freshName();
      const query = 'mutation ($id: ID!, $name: String!) { renameApiKey(id: $id, name: $name) { id } }';
      return {
        name,
        send: (headers) => mutate(gateway, tenant, query, { id, name }, headers),
        stored: () => keysNamed(gateway, name),
      };
    },
  },
  {
    name: 'rollApiKey',
    act: 'key.roll',
    async begin(gateway, tenant) {
      const { id, name } = await madeKey(gateway, tenant);
      const query = 'mutation ($id: ID!) { rollApiKey(id: $id) { token } }';
      return {
        name,
        send: (headers) => mutate(gateway, tenant, query, { id }, headers),
        stored: async () => (await keysNamed(gateway, name)) - 1,
      };
    },
  },
  {
    name: 'revokeApiKey',
    act: 'key.revoke',
    async begin(gateway, tenant) {
      const { id, name } = await madeKey(gateway, tenant);
      const query = 'mutation ($id: ID!) { revokeApiKey(id: $id) { id } }';
      return {
        name,
        send: (headers) => mutate(gateway, tenant, query, { id }, headers),
        stored: () => gateway.count('api_keys WHERE name = ? AND revoked_at_ms IS NOT NULL', [name]),
      };
    },
  },
  {
    name: 'publishProject',
    act: 'project.publish',
    isReplaced: true,
    async begin(gateway, tenant) {
      const [row] = await gateway.query('SELECT published_at_ms AS ms FROM projects WHERE id = ?', [
        tenant.projectId,
      ]);
      return {
        name: `deploy beside ${row?.ms}`,
        send: (headers) => mutate(gateway, tenant, 'mutation { publishProject { slug } }', {}, headers),
        stored: () =>
          gateway.count('projects WHERE id = ? AND published_at_ms <> ?', [tenant.projectId, row?.ms]),
      };
    },
  },
  {
    name: 'recordImport',
    act: 'toys.import',
    async begin(gateway, tenant) {
      const file = `${freshName()}.csv`;
      return {
        name: file,
        send: (headers) => mutate(gateway, tenant, RECORD_IMPORT, { file }, headers),
        stored: () => gateway.count('audit_events WHERE subject = ?', [file]),
      };
    },
  },
  {
    name: 'addDomain',
    act: 'domain.add',
    async begin(gateway, tenant) {
      const hostname = `${freshName()}.example.com`;
      return {
        name: hostname,
        send: (headers) => mutate(gateway, tenant, ADD_DOMAIN, { hostname }, headers),
        stored: () => gateway.count('domains WHERE hostname = ? AND removed_at_ms IS NULL', [hostname]),
      };
    },
  },
  {
    name: 'removeDomain',
    act: 'domain.remove',
    async begin(gateway, tenant) {
      const { id, hostname } = await madeDomain(gateway, tenant);
      return {
        name: hostname,
        send: (headers) => mutate(gateway, tenant, REMOVE_DOMAIN, { id }, headers),
        stored: () => gateway.count('domains WHERE hostname = ? AND removed_at_ms IS NOT NULL', [hostname]),
      };
    },
  },
  {
    name: 'setDomains',
    act: 'domain.configure',
    isReplaced: true,
    async begin(gateway, tenant) {
      const { hostname } = await madeDomain(gateway, tenant);
      const query =
        'mutation ($primary: String) { setDomains(input: {primary: $primary, redirects: []}) { applied } }';
      return {
        name: hostname,
        send: (headers) => mutate(gateway, tenant, query, { primary: hostname }, headers),
        stored: () => gateway.count('domains WHERE hostname = ? AND is_primary = 1', [hostname]),
      };
    },
  },
  ...['verifyDomain', 'reverifyDomain'].map(
    (name): Write => ({
      name,
      async begin(gateway, tenant) {
        const { id, hostname } = await madeDomain(gateway, tenant);
        const [row] = await gateway.query('SELECT checked_at_ms AS ms FROM domains WHERE hostname = ?', [
          hostname,
        ]);
        const query = `mutation ($id: ID!) { ${name}(id: $id) { id } }`;
        return {
          name: hostname,
          send: (headers) => mutate(gateway, tenant, query, { id }, headers),
          stored: () =>
            gateway.count('domains WHERE hostname = ? AND checked_at_ms > ?', [hostname, row?.ms ?? 0]),
        };
      },
    }),
  ),
];

/** Commands are processes of their own: their statements pass the same faults. */
export const COMMAND_WRITES: readonly Write[] = [
  {
    name: 'petstore projects create',
    async begin(gateway) {
      const slug = freshName();
      return {
        name: slug,
        send: () => command(gateway, ['projects', 'create', slug]),
        stored: () => gateway.count('projects WHERE slug = ?', [slug]),
      };
    },
  },
  {
    name: 'petstore toys import',
    async begin(gateway, tenant) {
      const name = freshName();
      const [row] = await gateway.query('SELECT slug FROM projects WHERE id = ?', [tenant.projectId]);
      const file = join(gateway.folder, `${name}.csv`);
      await writeFile(file, `name,categoryId\n${name}-1,1\n${name}-2,1\n`);
      return {
        name,
        send: () => command(gateway, ['toys', 'import', String(row?.slug), file]),
        stored: async () =>
          (await gateway.count('toys WHERE project_id = ? AND name LIKE ?', [
            tenant.projectId,
            `${name}-%`,
          ])) / 2,
      };
    },
  },
];

const RECORD_IMPORT = `mutation ($file: String!) {
  recordImport(resource: "toys", file: $file, imported: 1, refused: 0) { slug }
}`;
const ADD_DOMAIN = 'mutation ($hostname: String!) { addDomain(hostname: $hostname) { id } }';
const REMOVE_DOMAIN = 'mutation ($id: ID!) { removeDomain(id: $id) { id } }';
const CREATE_TOY = 'mutation ($input: NewToy!) { createToy(input: $input) { id } }';
const CREATE_KEY = 'mutation ($input: NewApiKey!) { createApiKey(input: $input) { key { id } token } }';

function newToy(gateway: FaultyGateway, tenant: Tenant, name: string): Attempt {
  return {
    name,
    send: (headers) => mutate(gateway, tenant, CREATE_TOY, { input: TOY_INPUT(name) }, headers),
    stored: () => toysNamed(gateway, tenant, name),
  };
}

function newKey(gateway: FaultyGateway, tenant: Tenant, name: string): Attempt {
  const input = { name, scopes: ['TOYS_READ'] };
  return {
    name,
    send: (headers) => mutate(gateway, tenant, CREATE_KEY, { input }, headers),
    stored: () => keysNamed(gateway, name),
  };
}

/** Made in spite of what a fault before has left: the gateway may need a moment. */
async function made(attempt: () => Attempt): Promise<string> {
  return eventually('a prepared record', async () => {
    const next = attempt();
    return (await next.send({})).kind === 'done' && next.name;
  });
}

async function madeToy(gateway: FaultyGateway, tenant: Tenant): Promise<string> {
  const name = await made(() => newToy(gateway, tenant, freshName()));
  const [row] = await gateway.query('SELECT id FROM toys WHERE project_id = ? AND name = ?', [
    tenant.projectId,
    name,
  ]);
  return String(row?.id);
}

async function madeKey(gateway: FaultyGateway, tenant: Tenant): Promise<{ id: string; name: string }> {
  const name = await made(() => newKey(gateway, tenant, freshName()));
  const [row] = await gateway.query('SELECT id FROM api_keys WHERE name = ?', [name]);
  return { id: String(row?.id), name };
}

async function madeDomain(gateway: FaultyGateway, tenant: Tenant): Promise<{ id: string; hostname: string }> {
  const hostname = await made(() => {
    const name = `${freshName()}.example.com`;
    return {
      name,
      send: (headers) => mutate(gateway, tenant, ADD_DOMAIN, { hostname: name }, headers),
      stored: async () => 1,
    };
  });
  const [row] = await gateway.query('SELECT id FROM domains WHERE hostname = ?', [hostname]);
  return { id: String(row?.id), hostname };
}

const toysNamed = (gateway: FaultyGateway, { projectId }: Tenant, name: string) =>
  gateway.count('toys WHERE project_id = ? AND name = ?', [projectId, name]);

const keysNamed = (gateway: FaultyGateway, name: string) => gateway.count('api_keys WHERE name = ?', [name]);

function mutate(
  gateway: FaultyGateway,
  { token }: Tenant,
  query: string,
  variables: Record<string, unknown>,
  headers: Record<string, string>,
): Promise<Outcome> {
  return outcomeOf(() => graphql(gateway.url, query, { token, variables, headers }));
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
  body: any;
}

async function outcomeOf(ask: () => Promise<Answered>): Promise<Outcome> {
  let answer: Answered;
  try {
    answer = await ask();
  } catch (error) {
    return { kind: 'unknown', reason: `no answer: ${(error as Error).message}` };
  }
  const { status, body } = answer;
  const problem = body?.errors?.[0]?.extensions ?? (status < 300 ? null : body);
  if (problem === null) return { kind: 'done', reason: '' };
  const reason = `${problem.status} ${problem.code}`;
  // A repeat of a key's creation: the first request made it.
  if (/was shown only once/.test(body?.errors?.[0]?.message)) return { kind: 'done', reason };
  const isRunning = problem.status === 409 && problem.retryAfterSeconds !== undefined;
  return { kind: problem.status >= 500 || isRunning ? 'unknown' : 'refused', reason };
}

async function command(gateway: FaultyGateway, args: string[]): Promise<Outcome> {
  const { code, stderr } = await petstore(args, { databaseUrl: gateway.databaseUrl });
  return code === 0 ? { kind: 'done', reason: '' } : { kind: 'unknown', reason: stderr.slice(0, 200) };
}
