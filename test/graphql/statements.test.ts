import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { ownershipRecord } from '../../src/domains/diagnosis/dns-records.js';
import { FieldLimits } from '../../src/doors/graphql/execution/field-limits.js';
import { ActivityResolver } from '../../src/doors/graphql/schema/activity.resolver.js';
import { ApiKeyResolver } from '../../src/doors/graphql/schema/api-key.resolver.js';
import { DomainResolver } from '../../src/doors/graphql/schema/domains/domain.resolver.js';
import { ProjectResolver } from '../../src/doors/graphql/schema/project.resolver.js';
import { RateLimitResolver } from '../../src/doors/graphql/schema/rate-limit.resolver.js';
import { createSchema } from '../../src/doors/graphql/schema/schema.js';
import type { Limiter } from '../../src/request/rate-limit/rules/limiter.js';
import { closeLog, openLog } from '../support/changes/changes.js';
import { anyDatabase } from '../support/databases.js';
import { type DnsServerDouble, startDnsServer } from '../support/dns/dns-server.js';
import { PLATFORM_HOST, publishedTenant } from '../support/domains/domain-rig.js';
import { attach } from '../support/domains/served-domain.js';
import { servedToys } from '../support/gateway/tested-gateway.js';
import { graphql } from '../support/http/client.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const ALIASES = 20;
/**
 * Statements that a process runs for all operations together: keys, due domains, and the host table that follows the
 * changes of every process.
 */
const OF_THE_PROCESS =
  /JOIN projects|rate_counters|ChangeSequence|change_number.? >|next_(check|order)_at_ms.? <=/;

interface Setting {
  owner: Tenant;
  domainIds: string[];
  toyIds: string[];
}

interface FieldReads {
  statements: number;
  /** Each alias runs its own statement, because its arguments make another list. */
  isOfAlias?: true;
  /** A selection of the field inside a query; `at` is the number of the alias. */
  select: (at: number, given: Setting) => string;
}

/** Each field that may run statements. */
const FIELDS: Record<string, FieldReads> = {
  'Query.apiKey': { statements: 1, select: () => 'apiKey { id lastUsedAt }' },
  'Query.apiKeys': { statements: 2, select: () => 'apiKeys { id }' },
  'Query.domains': { statements: 1, select: () => 'domains { id }' },
  'Query.domain': {
    statements: 1,
    select: (at, { domainIds }) => `domain(id: "${domainIds[at % domainIds.length]}") { id }`,
  },
  'Query.toy': {
    statements: 1,
    select: (at, { toyIds }) => `toy(id: "${toyIds[at % toyIds.length]}") { id }`,
  },
  'Query.toys': { statements: 1, isOfAlias: true, select: (at) => `toys(first: ${at + 1}) { nodes { id } }` },
  'Query.toyCount': {
    statements: 1,
    isOfAlias: true,
    select: (at) => `toyCount(nameStartsWith: "${at}")`,
  },
  'Query.toyChanges': {
    statements: 2,
    isOfAlias: true,
    select: (at) => `toyChanges(first: ${at + 1}) { nodes { kind } }`,
  },
  'Query.project': { statements: 1, select: () => 'project { slug apiUrl graphqlUrl }' },
  'Query.rateLimit': { statements: 0, select: () => 'rateLimit { minute { remaining } }' },
  'Domain.certificate': { statements: 1, select: () => 'certificate { issuer }' },
  'Domain.timeline': { statements: 1, select: (at) => `timeline(first: ${at === 3 ? 2 : 1}) { name }` },
  'Project.auditEvents': {
    statements: 2,
    select: (at) => `auditEvents(first: ${at + 1}) { nodes { actor detail { name } } }`,
  },
  'Project.requests': {
    statements: 4,
    select: (at) =>
      `requests(first: ${at + 1}${at % 5 === 0 ? ', filter: {status: 200}' : ''}) { nodes { id keyName } leftOut }`,
  },
  'Project.strikingClients': { statements: 1, select: () => 'strikingClients { client }' },
  'Project.usage': {
    statements: 4,
    select: (at) =>
      `usage(window: ${['HOUR', 'DAY', 'MONTH'][at % 3]}, by: ${at % 2 ? 'KEY' : 'STATUS'}) { series { label } }`,
  },
};
/** Of a query with the most root fields. D-209. */
const MOST_OF_QUERY = 40;
/** Of each mutation in an operation, without an Idempotency-Key. */
const MOST_OF_MUTATION = 14;
const PARENTS: Record<string, string> = { Query: '', Domain: 'domains', Project: 'project' };

describe.each([anyDatabase()])('on %s', (kind) => {
  const asking = new AsyncLocalStorage<string[]>();
  const counted = new Map<string, string[]>();
  let dns: DnsServerDouble;
  let app: TestApp;
  let given: Setting;
  let schema: GraphQLSchema;

  beforeAll(async () => {
    schema = await bareSchema();
    dns = await startDnsServer();
    dns.zone('customer.test');
    dns.zone(PLATFORM_HOST);
    dns.set(PLATFORM_HOST, 'A', '127.0.0.1');
    const env = {
      PLATFORM_HOST,
      DNS_SERVERS: dns.hostPort,
      DNS_NAME_SERVER_PORT: String(dns.port),
      DNS_PRIVATE_NAME_SERVERS: '1',
      SECRET_KEY: 'ab'.repeat(32),
    };
    app = await startApp({ kind, env, onQuery: (sql) => asking.getStore()?.push(sql) });
    app.app.http.server.prependListener('request', ({ headers }) => {
      const statements = counted.get(String(headers['x-counted']));
      if (statements) asking.enterWith(statements);
    });
    given = await setting(['a', 'b', 'c']);
    await openLog(app, given.owner);
    // The newest act is one of a key, so that its name is read.
    await ask('mutation { it: publishProject { slug } }');
    // The log of requests has rows, whose keys have names.
    await app.app.services.requestWriter.flush(true);
  });
  // A key has 120 management operations a minute.
  beforeEach(() => {
    app.clock.now += 60_000;
  });
  afterAll(async () => {
    await app.stop();
    await dns.stop();
  });

  async function setting(names: string[]): Promise<Setting> {
    const owner = await publishedTenant(app);
    const domainIds: string[] = [];
    for (const name of names) {
      const { id } = await attach(app, owner.projectId, { hostname: `${name}.customer.test` });
      domainIds.push(String(id));
    }
    const toyIds: string[] = [];
    for (const name of names) {
      const { data } = await ask(
        `mutation { it: createToy(input: {name: "${name}", categoryId: 1}) { id } }`,
        {
          owner,
        },
      );
      toyIds.push(data.it.id);
    }
    return { owner, domainIds, toyIds };
  }

  async function ask(
    query: string,
    { owner = given.owner, headers = {} }: { owner?: Tenant; headers?: object } = {},
  ) {
    const statements: string[] = [];
    const name = String(counted.size);
    counted.set(name, statements);
    const { token } = owner;
    const answer = await graphql(app.url, query, { token, headers: { ...headers, 'x-counted': name } });
    const { data, errors } = answer.body;
    expect([query, errors]).toEqual([query, undefined]);
    return { data, statements: statements.filter((sql) => !OF_THE_PROCESS.test(sql)) };
  }
  const count = async (query: string) => (await ask(query)).statements.length;

  const within = (parent: string, inner: string) =>
    parent === '' ? `{ ${inner} }` : `{ ${parent} { __typename ${inner} } }`;
  const aliases = (number: number, select: FieldReads['select']) =>
    Array.from({ length: number }, (_, at) => `a${at}: ${select(at, given)}`).join(' ');

  test.each(Object.entries(FIELDS))(
    'Statements-1: %s runs a fixed number of statements, whatever the number of parents and aliases',
    async (field, { statements, isOfAlias, select }) => {
      const parent = PARENTS[field.split('.')[0] ?? ''] ?? '';
      const without = parent === '' ? 0 : await count(within(parent, ''));
      const many = (await count(within(parent, aliases(ALIASES, select)))) - without;
      if (!isOfAlias) expect(many).toBe(statements);
      // On MySQL `JointReads` combines reads of the same shape.
      else expect(many).toBeLessThanOrEqual(statements * ALIASES);
      expect((await count(within(parent, select(0, given)))) - without).toBeLessThanOrEqual(statements);
    },
  );

  test('Statements-2: a query for every field runs the statements of its fields, and no others', async () => {
    const query = everything(schema.getQueryType() as GraphQLObjectType, given);
    const total = Object.values(FIELDS).reduce((sum, { statements }) => sum + statements, 0);
    // The query selects one of the three windows of usage, and not by key.
    expect(await count(`{ ${query} }`)).toBe(total - 3);
  });

  test(`Statements-5: a query for every field under 20 root fields runs at most ${MOST_OF_QUERY} statements`, async () => {
    const query = everything(schema.getQueryType() as GraphQLObjectType, given);
    const usage = ['HOUR', 'DAY', 'MONTH'].map(
      (window) => `${window}: usage(window: ${window}, by: KEY) { series { label } }`,
    );
    const domains = 'all: domains { certificate { issuer } timeline(first: 1) { name } }';
    const own = Object.keys(schema.getQueryType()?.getFields() ?? {}).length;
    const lists = aliases(20 - own - 2, (at) => `toys(nameStartsWith: "${at}") { nodes { id } }`);
    const asked = `{ ${query} ${domains} own: project { ${usage.join(' ')} } ${lists} }`;
    expect(await count(asked)).toBeLessThanOrEqual(MOST_OF_QUERY);
    const { body } = await graphql(app.url, asked.replace('{', '{ more: __typename'), {
      token: given.owner.token,
    });
    expect(body.errors[0].message).toMatch(/^The operation has 21 root fields/);
  });

  test(`Statements-3: every mutation runs a fixed number of statements, at most ${MOST_OF_MUTATION}`, async () => {
    const [, b] = given.domainIds;
    const added = async (name: string) => {
      const { data } = await ask(`mutation { it: addDomain(hostname: "${name}.customer.test") { id } }`);
      dns.set(`${name}.customer.test`, 'CNAME', PLATFORM_HOST);
      return data.it.id;
    };
    const key = async () =>
      (await ask('mutation { it: createApiKey(input: {name: "k", scopes: [KEYS]}) { key { id } } }')).data.it
        .key.id;
    const rival = await setting([]);
    const { name, value } = ownershipRecord(rival.owner.projectId, 'c.customer.test');
    dns.set(name, 'TXT', value);
    const config = `{primary: "a.customer.test", redirects: [
      {from: "b.customer.test", to: "a.customer.test"}, {from: "c.customer.test", to: "b.customer.test", status: 302}]}`;
    const verified = await added('verified');
    const reverified = await added('reverified');
    const mutations: [field: string, statements: number, query: string, owner?: Tenant][] = [
      ['createToy', 1, '(input: {name: "x", categoryId: 1}) { id }'],
      ['createToys', 1, '(inputs: [{name: "x", categoryId: 1}, {name: "y", categoryId: 1}]) { id }'],
      ['updateToy', 2, `(id: "${given.toyIds[0]}", input: {name: "y"}) { id }`],
      ['deleteToy', 1, `(id: "${given.toyIds[1]}") { id }`],
      ['createApiKey', 7, '(input: {name: "k", scopes: [KEYS]}) { token }'],
      ['rollApiKey', 10, `(id: "${await key()}") { token }`],
      ['renameApiKey', 7, `(id: "${await key()}", name: "renamed") { id }`],
      ['revokeApiKey', 7, `(id: "${await key()}") { id }`],
      ['unbanApiKey', 5, `(id: "${await key()}") { id }`],
      ['publishProject', 5, '{ slug }'],
      ['recordImport', 4, '(resource: "toys", file: "a.csv", imported: 2, refused: 1) { slug }'],
      ['addDomain', 10, '(hostname: "new.customer.test") { id }'],
      ['verifyDomain', 7, `(id: "${verified}") { id }`],
      ['reverifyDomain', 7, `(id: "${reverified}") { id }`],
      ['setDomains', 8, `(input: ${config}) { applied }`],
      ['removeDomain', 10, `(id: "${b}") { id }`],
      [
        'setDomains',
        8,
        '(input: {redirects: [{from: "a.customer.test", to: "c.customer.test"}]}) { applied }',
      ],
      // The domain moves away from its project, where another domain redirects to it.
      ['addDomain', 14, '(hostname: "c.customer.test") { id }', rival.owner],
    ];
    await closeLog(app, given.owner);
    const most = new Map<string, number>();
    for (const [field, statements, rest, owner = given.owner] of mutations) {
      const asked = await ask(`mutation { ${field}${rest} }`, { owner });
      expect([field, asked.statements.length, asked.statements]).toEqual([
        field,
        statements,
        asked.statements,
      ]);
      most.set(field, Math.max(statements, most.get(field) ?? 0));
    }
    expect([...most.keys()].sort()).toEqual(Object.keys(schema.getMutationType()?.getFields() ?? {}).sort());
    expect(Math.max(...most.values())).toBe(MOST_OF_MUTATION);
  });

  test('Statements-4: an Idempotency-Key adds two statements to a mutation, and a transaction if it has none', async () => {
    const query = 'mutation { createToy(input: {name: "x", categoryId: 1}) { id } }';
    const headers = { 'idempotency-key': `counted-${kind}` };
    expect((await ask(query, { headers })).statements).toHaveLength(5);
    expect((await ask(query, { headers })).statements).toHaveLength(2);
  });
});

/** Builds the schema of the door without services; it is not executed. */
async function bareSchema(): Promise<GraphQLSchema> {
  const noun = await servedToys();
  const classes = [
    ActivityResolver,
    ApiKeyResolver,
    DomainResolver,
    ...noun.resolvers,
    ProjectResolver,
    RateLimitResolver,
  ];
  const resolvers = classes.map(({ prototype }) => Object.create(prototype) as object);
  return createSchema([noun], resolvers, new FieldLimits({} as Limiter));
}

/** With all fields these lists would be too large. `domain` covers the fields of `domains`, and `usage` reads all series at once. */
const ONE_FIELD_OF: Record<string, string> = { domains: 'id', series: 'name' };

/** Returns a selection of all fields of a type, with all their fields. */
function everything(type: GraphQLObjectType, given: Setting): string {
  return Object.values(type.getFields())
    .map((field) => {
      const inner = getNamedType(field.type);
      const all = ONE_FIELD_OF[field.name] ?? (isObjectType(inner) ? everything(inner, given) : '');
      const selection = all === '' ? '' : ` { ${all} }`;
      // Fields with arguments are in FIELDS.
      const sample = FIELDS[`${type.name}.${field.name}`]?.select(0, given) ?? '';
      const args = sample.startsWith(`${field.name}(`)
        ? sample.slice(field.name.length, sample.indexOf(')') + 1)
        : '';
      return `${field.name}${args}${selection}`;
    })
    .join(' ');
}
