import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { durationMs } from '../../src/cli/keys.command.js';
import { grouped, printable, table } from '../../src/cli/output.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { connectRedis } from '../../src/ground/redis/redis-connection.js';
import { RateCounter } from '../../src/request/rate-limit/memory/counter-store.js';
import { RedisLimiter } from '../../src/request/rate-limit/redis/redis-limiter.js';
import { NO_RECORD } from '../../src/request/rate-limit/rules/bans.js';
import { projectSubject } from '../../src/request/rate-limit/rules/subjects.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { petstore, petstoreHere, workFolder } from '../support/command-line.js';
import { anyDatabase, createTestDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { hammer } from '../support/limiter/charges.js';
import { slowness } from '../support/own-time.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

const ID = expect.stringMatching(/^\d+$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);

describe.each([anyDatabase()])('on %s', (kind) => {
  let database: TestDatabase;
  const run = (...args: string[]) => petstoreHere(args, { databaseUrl: database.url });
  const runProcess = (...args: string[]) => petstore(args, { databaseUrl: database.url });
  const json = async (...args: string[]) => (await run(...args, '--json')).json;

  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.remove());

  test('CLI-1: doctor names the missing migrations of a new database and creates nothing', async () => {
    const { code, json } = await runProcess('doctor', '--json');
    expect(code).toBe(1);
    expect(json.ok).toBe(false);
    const bad = json.checks.filter(({ ok }: { ok: boolean }) => !ok);
    expect(bad).toEqual([
      {
        name: 'migrations',
        ok: false,
        found: expect.any(String),
        remedy: expect.stringContaining('petstore migrate'),
      },
    ]);
    const again = await run('doctor');
    expect(again.code).toBe(1);
    expect(again.stdout).toMatch(/^PROBLEM {2}migrations: /m);
  });

  test('CLI-2: projects create sets up a new database and prints the project', async () => {
    const { code, json } = await runProcess(
      'projects',
      'create',
      'shop',
      '--plan',
      'Pro',
      '--name',
      'Toy shop',
      '--json',
    );
    expect(code).toBe(0);
    expect(json).toEqual({
      id: ID,
      slug: 'shop',
      name: 'Toy shop',
      plan: 'PRO',
      perMinute: 300,
      perDay: 10_000,
      streams: 20,
      changes: 'off',
      changesOpenAt: null,
      publishedAt: null,
      createdAt: TIME,
    });
  });

  test('CLI-3: a taken or malformed slug, and an unknown project, are refused with exit code 1', async () => {
    const [taken, unknown] = await Promise.all([
      runProcess('projects', 'create', 'shop', '--json'),
      runProcess('keys', 'create', 'nobody'),
    ]);
    expect(taken.code).toBe(1);
    expect(taken.json.error).toEqual({ code: 'conflict', message: expect.stringContaining('shop') });
    const malformed = await run('projects', 'create', 'Shop!', '--json');
    expect(malformed.code).toBe(1);
    expect(malformed.json.error.errors).toEqual([{ field: 'slug', message: expect.any(String) }]);
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: 'There is no project nobody.\n' });
  });

  test('CLI-4: projects set changes the plan, and quotas where the plan has none', async () => {
    await json('projects', 'create', 'big');
    expect(await json('projects', 'set', 'big', '--plan', 'business')).toMatchObject({
      plan: 'BUSINESS',
      perDay: 100_000,
    });
    const fixed = await run('projects', 'set', 'big', '--per-minute', '5', '--json');
    expect(fixed.code).toBe(1);
    expect(fixed.json.error.code).toBe('invalid_request');
    const agreed = ['--plan', 'ENTERPRISE', '--per-minute', '5000', '--per-day', '1000000'];
    expect(await json('projects', 'set', 'big', ...agreed)).toMatchObject({
      perMinute: 5_000,
      perDay: 1_000_000,
    });
    expect(await json('projects', 'set', 'big', '--per-day', '7')).toMatchObject({
      perMinute: 5_000,
      perDay: 7,
    });
  });

  test('CLI-5: projects publish records the deploy, and projects list shows every project', async () => {
    expect((await json('projects', 'publish', 'shop')).publishedAt).toEqual(TIME);
    const { projects } = await json('projects', 'list');
    expect(projects.map(({ slug }: { slug: string }) => slug)).toEqual(['big', 'shop']);
    const { stdout } = await run('projects', 'list');
    expect(stdout).toMatch(/^SLUG +NAME +PLAN/);
    expect(stdout).toMatch(/^shop +Toy shop +PRO +300 +10,000/m);
  });

  test('CLI-59: projects set and projects list show whether the change log is off, when it opens, and that it is on', async () => {
    const listed = async () => {
      const { changes, changesOpenAt } = (await json('projects', 'list')).projects[1];
      return { changes, changesOpenAt };
    };
    expect(await listed()).toEqual({ changes: 'off', changesOpenAt: null });
    const opening = await run('projects', 'set', 'shop', '--changes', 'on');
    expect(opening.stdout).toMatch(/^shop +Toy shop .* opens at \d{4}-\d\d-\d\dT\S+Z +20 /m);
    expect(await listed()).toEqual({ changes: 'opening', changesOpenAt: TIME });
    const later = Date.now() + 16_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
    expect(await listed()).toEqual({ changes: 'on', changesOpenAt: TIME });
    expect((await run('projects', 'list')).stdout).toMatch(/^big .* off +1,000 .*\nshop .* on +20 /m);
    clock.mockRestore();
    expect(await json('projects', 'set', 'shop', '--changes', 'off')).toMatchObject({ changes: 'off' });
  });

  test('CLI-6: keys create prints the key once; keys list never shows it', async () => {
    const made = await json(
      'keys',
      'create',
      'shop',
      '--scopes',
      'domains,toys:read',
      '--name',
      'x',
      '--expires',
      '90d',
    );
    expect(made).toEqual({
      id: ID,
      key: expect.stringMatching(/^pk_[0-9A-Za-z]{33}$/),
      projectId: ID,
      name: 'x',
      rehearses: false,
      prefix: made.key.slice(0, 9),
      scopes: ['toys:read', 'domains'],
      createdAt: TIME,
      expiresAt: TIME,
      revokedAt: null,
      lastUsedAt: null,
    });
    const lifetimeMs = Date.parse(made.expiresAt) - Date.parse(made.createdAt);
    expect(Math.abs(lifetimeMs - 90 * 86_400_000)).toBeLessThan(10_000);
    const standard = await json('keys', 'create', 'shop');
    expect(standard).toMatchObject({ scopes: ['toys:read', 'toys:write'], expiresAt: null });
    const { stdout } = await run('keys', 'list', 'shop', '--json');
    expect(JSON.parse(stdout).keys).toHaveLength(2);
    expect(stdout).not.toContain(made.key);
  });

  test('CLI-7: keys roll makes a key with the same rights, and the old key ends after its overlap', async () => {
    const old = await json('keys', 'create', 'shop', '--scopes', 'toys:read');
    const rolled = await json('keys', 'roll', old.id, '--overlap', '1h');
    expect(rolled).toMatchObject({ scopes: ['toys:read'], replaces: { id: old.id, expiresAt: TIME } });
    expect(rolled.key).not.toBe(old.key);
    const overlapMs = Date.parse(rolled.replaces.expiresAt) - Date.parse(rolled.createdAt);
    expect(Math.abs(overlapMs - 3_600_000)).toBeLessThan(10_000);
    expect((await json('keys', 'revoke', old.id)).revokedAt).toEqual(TIME);
    expect((await json('keys', 'rename', old.id, 'replaced')).name).toBe('replaced');
    expect((await run('keys', 'rename', '12345', 'x', '--json')).json.error.code).toBe('not_found');
    const again = await run('keys', 'roll', old.id, '--json');
    expect(again.code).toBe(1);
    expect(again.json.error.code).toBe('conflict');
    expect((await run('keys', 'revoke', '12345', '--json')).json.error.code).toBe('not_found');
  });

  test('CLI-8: doctor finds no problem on a healthy database', async () => {
    const { code, json } = await run('doctor', '--json');
    expect(json.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    expect(json.ok).toBe(true);
  });

  test('CLI-9: migrate --revert reverts the newest migration; other commands then ask for migrate', async () => {
    expect(await json('migrate')).toEqual({ applied: [] });
    expect(await json('migrate', '--revert')).toEqual({ reverted: true });
    const refused = await run('projects', 'list', '--json');
    expect(refused.code).toBe(1);
    expect(refused.json.error.message).toContain('petstore migrate');
    expect(await json('migrate')).toEqual({ applied: [expect.any(String)] });
    expect((await json('projects', 'list')).projects).toHaveLength(2);
  });

  test('CLI-33: names, slugs and overlaps are refused by the same rules as at the doors, and change nothing', async () => {
    const [{ id = '' }] = (await json('keys', 'list', 'shop')).keys;
    const before = await json('projects', 'list');
    const refused: [args: string[], field: string][] = [
      [['keys', 'create', 'shop', '--name', ''], 'name'],
      [['keys', 'rename', id, ''], 'name'],
      [['keys', 'create', 'shop', '--name', ' \n '], 'name'],
      [['keys', 'create', 'shop', '--name', 'x'.repeat(256)], 'name'],
      [['projects', 'create', 'named', '--name', ''], 'name'],
      [['projects', 'create', 'named', '--name', 'x'.repeat(256)], 'name'],
      [['projects', 'create', 'x'.repeat(64)], 'slug'],
      [['keys', 'roll', id, '--overlap', '31d'], 'overlapSeconds'],
    ];
    const answers = await Promise.all(
      refused.map(async ([args, field]) => ({ args, field, ended: await run(...args, '--json') })),
    );
    for (const { args, field, ended } of answers) {
      expect([args, ended.code, ended.json.error.code]).toEqual([args, 1, 'invalid_request']);
      expect(ended.json.error.errors).toEqual([{ field, message: expect.stringMatching(/^must be /) }]);
    }
    expect(await json('projects', 'list')).toEqual(before);
  });

  test('CLI-34: keys list shows bans and strikes, and unban says what it lifted', async () => {
    await run('projects', 'create', 'bans');
    const made = [await json('keys', 'create', 'bans'), await json('keys', 'create', 'bans')];
    const [banned, warned] = made.map(({ id }) => id);
    const untilMs = Date.now() + 300_000;
    const record = { ...NO_RECORD, quietSinceMs: Date.now() };
    const row = { endMs: untilMs, isLifted: false };
    const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    await db.repository(RateCounter).insert([
      { ...row, name: `ban:${banned}`, value: { ...record, step: 1, untilMs } },
      { ...row, name: `ban:${warned}`, value: { ...record, strikes: 3 } },
    ]);
    await db.close();
    const until = new Date(Math.ceil(untilMs / 1000) * 1000).toISOString();
    const none = { until: null, strikes: 0 };
    const bans = async () =>
      (await json('keys', 'list', 'bans')).keys.map(({ ban }: { ban: unknown }) => ban);
    expect(await bans()).toEqual([
      { until, strikes: 0 },
      { until: null, strikes: 3 },
    ]);
    const { stdout } = await run('keys', 'list', 'bans');
    expect(stdout).toMatch(new RegExp(`^${banned} .* until ${until}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${warned} .* 3 strikes$`, 'm'));
    expect((await json('keys', 'unban', banned)).lifted).toEqual({ until, strikes: 0 });
    expect((await run('keys', 'unban', warned)).stdout).toMatch(
      /was not banned\. Its 3 strikes are forgotten/,
    );
    expect(await bans()).toEqual([none, none]);
    expect((await run('keys', 'unban', banned)).stdout).toMatch(/was not banned, and had no strikes/);
    expect((await json('keys', 'unban', banned)).lifted).toEqual(none);
  });

  describe('with a running gateway', () => {
    let gateway: GatewayProcess;
    beforeAll(async () => {
      gateway = await startGateway({ env: { DATABASE_URL: database.url } });
    });
    afterAll(() => gateway.kill('SIGKILL'));

    test('CLI-10: a new key works at once, and a revoked key stops working within a second', async () => {
      const { id, key } = await json('keys', 'create', 'shop');
      const status = async () => (await rest(gateway.url, '/v1/toys', { token: key })).status;
      expect(await status()).toBe(200);
      await run('keys', 'revoke', id);
      await eventually('401', async () => (await status()) === 401, 1_000 * (await slowness()));
    });

    test('CLI-31: keys unban lifts a ban of the running gateway within seconds, and is recorded', async () => {
      // A quota that even a slow machine spends within the minute.
      const quotas = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '1000'];
      await run('projects', 'create', 'banned', ...quotas);
      const { id, key } = await json('keys', 'create', 'banned', '--rehearse');
      const standing = async () => (await rest(gateway.url, '/v1/rate_limit', { token: key })).body.ban;
      await eventually(
        'the ban',
        async () => {
          await rest(gateway.url, '/v1/toys', { token: key });
          return (await standing()).untilSeconds !== null;
        },
        30_000,
      );
      const lifted = await json('keys', 'unban', id);
      expect(lifted).toMatchObject({ id, rehearses: true });
      await eventually('served again', async () => (await standing()).untilSeconds === null);
      const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
      const actions = (await db.repository(AuditEvent).findBy({ subject: id })).map(({ action }) => action);
      await db.close();
      expect(actions).toEqual(expect.arrayContaining(['key.create', 'key.ban', 'key.unban']));
    });

    test('CLI-11: commands that run in parallel while the gateway writes all succeed', async () => {
      const { key } = await json('keys', 'create', 'big');
      const body = { name: 'Rex', categoryId: 1 };
      let isOver = false;
      const writes = [1, 2, 3, 4].map(async () => {
        const statuses: number[] = [];
        while (!isOver)
          statuses.push((await rest(gateway.url, '/v1/toys', { method: 'POST', token: key, body })).status);
        return statuses;
      });
      const commands = await Promise.all(
        Array.from({ length: 6 }, async (_, at) => {
          const made = (await runProcess('keys', 'create', 'shop', '--name', `parallel ${at}`, '--json'))
            .json;
          return runProcess('keys', 'revoke', made.id, '--json');
        }),
      );
      isOver = true;
      expect(commands.map(({ code }) => code)).toEqual(Array(6).fill(0));
      const statuses = (await Promise.all(writes)).flat();
      expect(statuses.filter((status) => status !== 201 && status !== 429)).toEqual([]);
    });
  });
});

describe('usage', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await workFolder();
  });
  afterAll(() => rm(dirname(folder), { recursive: true, force: true }));
  const run = (args: string[], env = {}) =>
    petstoreHere(args, { databaseUrl: `sqlite:${folder}/usage.sqlite`, env });
  const runProcess = (args: string[]) =>
    petstore(args, { databaseUrl: `sqlite:${folder}/usage.sqlite`, cwd: folder });

  test.each([
    [0, ['keys', 'roll', '--help']],
    [0, ['--version']],
    [1, ['toys', 'import', 'a', 'nothing.csv']],
    [2, ['projects', 'frobnicate']],
    [2, ['projects', 'create', 'a', '--plan', 'gold']],
  ])('CLI-58: the process ends with code %i and prints what its command does: %j', async (code, args) => {
    for (const words of [args, [...args, '--json']]) {
      const [ofProcess, here] = await Promise.all([runProcess(words), run(words)]);
      const { stdout, stderr } = here;
      expect(ofProcess).toMatchObject({ code, stdout, stderr });
      expect(here.code).toBe(code);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test.each<[string, string[]]>([
    ['an unknown command', ['frobnicate']],
    ['an unknown subcommand', ['projects', 'frobnicate']],
    ['no command', []],
    ['no subcommand', ['keys']],
    ['a missing argument', ['projects', 'create']],
    ['one argument too many', ['projects', 'list', 'x']],
    ['an unknown option', ['projects', 'list', '--frob']],
    ['an option without its value', ['projects', 'create', 'a', '--plan']],
    ['an unknown plan', ['projects', 'create', 'a', '--plan', 'gold']],
    ['a quota of 0', ['projects', 'set', 'a', '--per-minute', '0']],
    ['a quota below 0', ['projects', 'set', 'a', '--per-day', '-1']],
    ['a quota that is no number', ['projects', 'set', 'a', '--per-minute', '1e3']],
    ['nothing to set', ['projects', 'set', 'a']],
    ['an unknown scope', ['keys', 'create', 'a', '--scopes', 'toys:read,toys:eat']],
    ['no scope', ['keys', 'create', 'a', '--scopes', '']],
    ['an unknown unit of time', ['keys', 'create', 'a', '--expires', '3w']],
    ['no time', ['keys', 'create', 'a', '--expires', '0d']],
    ['a key id that is no number', ['keys', 'revoke', 'pk_abc']],
    ['--resume and --restart', ['toys', 'import', 'a', 'x.csv', '--resume', '--restart']],
    ['--resume with standard input', ['toys', 'import', 'a', '-', '--resume']],
    ['the imported file as file of refused rows', ['toys', 'import', 'a', 'x.csv', '--refused', './x.csv']],
    ['--again and --resume', ['toys', 'import', 'a', 'x.csv', '--again', '--resume']],
    ['an export to a file of no format', ['toys', 'export', 'a', 'x.txt']],
    ['an export in an unknown format', ['toys', 'export', 'a', 'x.txt', '--format', 'xml']],
    [
      'an export in another format than its name says',
      ['toys', 'export', 'a', 'x.csv', '--format', 'ndjson'],
    ],
    ['--force with standard output', ['toys', 'export', 'a', '--force']],
  ])('CLI-12: answers %s with exit code 2 and touches nothing', async (_, args) => {
    const [human, script] = await Promise.all([run(args), run([...args, '--json'])]);
    expect(human.code).toBe(2);
    expect(human.stdout).toBe('');
    expect(human.stderr).not.toBe('');
    expect(script.code).toBe(2);
    expect(script.stderr).toBe('');
    expect(script.json.error).toEqual({
      code: 'usage',
      message: expect.not.stringMatching(/^(Usage|error)|^$/),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('CLI-13: lists the scopes when one is unknown', async () => {
    const { stderr } = await run(['keys', 'create', 'a', '--scopes', 'all']);
    expect(stderr).toContain('toys:read, toys:write, domains, keys');
  });

  test('CLI-14: an invalid configuration is exit code 2 and names the variable', async () => {
    const env = { DATABASE_POOL_SIZE: 'many' };
    expect(await run(['projects', 'list'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('DATABASE_POOL_SIZE'),
    });
    const script = await run(['projects', 'list', '--json'], env);
    expect(script.code).toBe(2);
    expect(script.json.error.code).toBe('invalid_configuration');
  });

  test('CLI-37: doctor reports all invalid settings at once, with exit code 2', async () => {
    const env = {
      PORT: 'http',
      DATABASE_POOL_SIZE: 'many',
      LOG_FORMAT: 'xml',
      METRICS_HOST: 'every where',
      ACME_DIRECTORY_URL: 'http://ca.example.org',
      ACME_EMAIL: 'nobody',
      REDIS_URL: 'http://:secret@redis',
    };
    const { code, json, stdout } = await run(['doctor', '--json'], env);
    expect(code).toBe(2);
    expect(json.ok).toBe(false);
    expect(json.checks.map(({ name }: { name: string }) => name)).toEqual(Array(8).fill('configuration'));
    for (const name of [...Object.keys(env), 'SECRET_KEY']) {
      expect(stdout).toMatch(new RegExp(`"found":"${name} must be`));
    }
    expect(stdout).not.toContain('secret');
    const human = await run(['doctor'], env);
    expect(human.code).toBe(2);
    expect(human.stdout.match(/^PROBLEM {2}configuration: /gm)).toHaveLength(8);
  });

  test('CLI-38: doctor reports a port in use, a port of two settings, and an address of another machine', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const PORT = String((taken.address() as AddressInfo).port);
    const cases: [Record<string, string>, string][] = [
      [{ PORT }, `PORT ${PORT} on 127.0.0.1 is in use`],
      [{ PORT: '0', METRICS_PORT: PORT }, `METRICS_PORT ${PORT} on 127.0.0.1 is in use`],
      [{ PORT: '4321', METRICS_PORT: '4321' }, 'METRICS_PORT is the port 4321 of another setting'],
      [
        { PORT: '4321', HOST: '192.0.2.1' },
        "PORT 4321 on 192.0.2.1 can't be bound: this machine has no such address",
      ],
    ];
    for (const [env, found] of cases) {
      const { code, json } = await run(['doctor', '--json'], env);
      expect(code).toBe(1);
      expect(json.checks).toContainEqual(expect.objectContaining({ name: 'ports', ok: false, found }));
    }
    taken.close();
  });

  test('CLI-43: doctor allows one port on two addresses, but not on one address and on all addresses', async () => {
    const ports = { PORT: '4321', METRICS_PORT: '4321', METRICS_HOST: '127.0.0.2' };
    const found = async (env: object) => {
      const { json } = await run(['doctor', '--json'], { ...ports, ...env });
      return json.checks.find(({ name }: { name: string }) => name === 'ports').found;
    };
    expect(await found({})).toMatch(/4321 on 127\.0\.0\.1 is free.* 4321 on 127\.0\.0\.2 is free/);
    expect(await found({ HOST: '0.0.0.0' })).toMatch(/another setting/);
  });

  test('CLI-39: doctor recognises a running gateway on its port', async () => {
    const gateway = await startGateway({ env: { DATABASE_URL: 'sqlite::memory:' } });
    const { json } = await run(['doctor', '--json'], { PORT: String(gateway.port) });
    await gateway.kill('SIGKILL');
    const found = `a gateway answers on 127.0.0.1:${gateway.port}`;
    expect(json.checks).toContainEqual({ name: 'ports', ok: true, found, remedy: null });
  });

  test('CLI-40: doctor and every command report a folder that cannot be written', async () => {
    const bare = await mkdtemp(join(tmpdir(), 'petstore-test-'));
    await chmod(bare, 0o555);
    const options = { databaseUrl: `sqlite:${bare}/x/y.sqlite`, isUnprivileged: true };
    const [doctor, list] = await Promise.all([
      petstore(['doctor', '--json'], options),
      petstore(['projects', 'list', '--json'], options),
    ]);
    await rm(bare, { recursive: true });
    expect([doctor.code, list.code]).toEqual([1, 1]);
    expect(doctor.json.checks).toContainEqual({
      name: 'disk',
      ok: false,
      found: `this user can't write to the folder ${bare}`,
      remedy: expect.stringContaining('DATABASE_URL'),
    });
    expect(list.json.error.message).toContain(`this user can't write to the folder ${bare}/x`);
  });

  test('CLI-41: commands whose effect another process must see refuse a database in memory', async () => {
    const options = { databaseUrl: 'sqlite::memory:' };
    for (const args of [['projects', 'list'], ['migrate'], ['keys', 'create', 'demo']]) {
      const { code, json } = await petstoreHere([...args, '--json'], options);
      expect(code).toBe(2);
      expect(json.error).toEqual({
        code: 'invalid_configuration',
        message: expect.stringContaining('DATABASE_URL'),
      });
    }
    const doctor = await petstoreHere(['doctor', '--json'], { ...options, env: { PORT: '0' } });
    expect(doctor).toMatchObject({ code: 0, json: { ok: true } });
  });

  test('CLI-42: --version prints the version of package.json', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(await runProcess(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect((await run(['--version', '--json'])).json).toEqual({ version });
  });

  test.each([
    [[]],
    [['projects', 'create']],
    [['keys', 'roll']],
    [['toys', 'import']],
    [['toys', 'export']],
    [['migrate']],
    [['doctor']],
    [['types']],
  ])('CLI-15: %j --help shows an example', async (command: string[]) => {
    const { code, stdout } = await run([...command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Examples?:\n {2}\$ petstore /m);
    expect(stdout).toContain('--json');
  });

  test('CLI-16: a database that does not answer is exit code 1, with its address and without its password', async () => {
    const databaseUrl = 'mysql://root:secret@127.0.0.1:9/petstore';
    const { code, stdout, stderr } = await petstoreHere(['projects', 'list', '--json'], { databaseUrl });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout).error).toEqual({
      code: 'unavailable',
      message: expect.stringContaining('127.0.0.1:9'),
    });
    const doctor = await petstoreHere(['doctor', '--json'], { databaseUrl });
    expect(doctor.code).toBe(1);
    expect(doctor.json.checks).toContainEqual(expect.objectContaining({ name: 'database', ok: false }));
    expect(stdout + doctor.stdout).not.toContain('secret');
  });

  test('CLI-17: doctor reports a file that is not a database, and a path where none can be created', async () => {
    const noDatabase = join(folder, 'text.sqlite');
    await writeFile(noDatabase, 'This is only text, and no database at all.'.repeat(50));
    const { code, json } = await petstoreHere(['doctor', '--json'], { databaseUrl: `sqlite:${noDatabase}` });
    expect(code).toBe(1);
    expect(json.checks).toContainEqual(expect.objectContaining({ name: 'database', ok: false }));
    const inFile = await petstoreHere(['doctor', '--json'], { databaseUrl: `sqlite:${noDatabase}/x.sqlite` });
    expect(inFile.code).toBe(1);
    expect(inFile.json.checks).toContainEqual(expect.objectContaining({ name: 'disk', ok: false }));
    await rm(noDatabase);
  });
});

test('CLI-18: durations need a unit, and nothing else is accepted', () => {
  expect(['30s', '15m', '24h', '90d', '0s'].map(durationMs)).toEqual([
    30_000, 900_000, 86_400_000, 7_776_000_000, 0,
  ]);
  for (const text of ['', '5', 'd', '-1d', '1.5h', '1d2h', ' 1d', '1D', '123456d'])
    expect(() => durationMs(text)).toThrow();
});

test('CLI-19: tables are aligned by characters, and no name can send control characters to the terminal', () => {
  const rows = [
    { name: 'Zoë 😀', rows: '1' },
    { name: 'a\x1b[2J', rows: null },
  ];
  expect(table(rows)).toBe(['NAME   ROWS', 'Zoë 😀  1', 'a�[2J  –'].join('\n'));
  const turned = [{ name: 'a\u202Etxt.exe\u2069\u2028b\nc' }];
  expect(table(turned)).toBe('NAME\na�txt.exe��b�c');
  expect(printable('one\n\x1b]0;two\x07')).toBe('one\n�]0;two�');
  expect(grouped(1_234_567.4)).toBe('1,234,567');
});

test('CLI-30: the program limits its own memory, with npm and without', async () => {
  const { bin, scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  const [shebang] = (await readFile('src/cli/main.ts', 'utf8')).split('\n');
  expect(`${shebang?.replace('#!/usr/bin/env -S ', '')} ${bin.petstore}`).toBe(scripts.petstore);
});

test('CLI-56: each build of the program is the one that makes the binary of the package executable (Start-10)', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(scripts['build:server']).toBe('node build.js server');
  expect(scripts.prepetstore).toContain('npm run -s build:server');
  for (const name of ['build', 'prestart']) expect(scripts[name]).toBe('node build.js');
});

test('CLI-57: help, the version and wrong usage load no database library', async () => {
  const atExit = `import { createRequire } from 'node:module';
    process.on('exit', () => process.stderr.write(Object.keys(createRequire('/').cache).join('\\n')));`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(atExit)}` };
  const commands = [['--help'], ['keys', 'create', '--help'], ['--version'], ['projects', 'creat']];
  for (const { stderr } of await Promise.all(commands.map((args) => petstore(args, { env })))) {
    expect(stderr).toContain('node_modules/commander/');
    expect(stderr).not.toMatch(/node_modules\/(typeorm|libsql|mysql2|ioredis|graphql)\//);
  }
});

test('CLI-32: doctor reports when Redis does not answer, and says what to do', async () => {
  const { code, json } = await petstoreHere(['doctor', '--json'], {
    databaseUrl: 'sqlite::memory:',
    env: { REDIS_URL: 'redis://127.0.0.1:1' },
  });
  expect(code).toBe(1);
  const redis = json.checks.find(({ name }: { name: string }) => name === 'redis');
  expect(redis).toMatchObject({ ok: false, remedy: expect.stringContaining('REDIS_URL') });
});

describe('with Redis', () => {
  let server: RedisServer;
  let database: TestDatabase;
  const run = (...args: string[]) =>
    petstoreHere([...args, '--json'], { databaseUrl: database.url, env: { REDIS_URL: server.url } });
  beforeAll(async () => {
    [server, database] = await Promise.all([startRedis(), createTestDatabase('sqlite')]);
  });
  afterAll(() => Promise.all([server.stop(), database.remove()]));

  test('CLI-35: keys list and unban use the bans that several processes share', async () => {
    const project = (await run('projects', 'create', 'shop')).json;
    const { id } = (await run('keys', 'create', 'shop')).json;
    // The ban is a few seconds old.
    const clock = { now: Date.now() - 10_000 };
    const limiter = new RedisLimiter(await connectRedis(server.url), { now: () => clock.now });
    const quota = { perMinute: 1, perDay: 1 };
    await hammer(limiter, clock, { subject: projectSubject(project.id), keyId: id, quota, cost: 1 });
    await limiter.close();
    const ban = async () => (await run('keys', 'list', 'shop')).json.keys[0].ban;
    expect(await ban()).toEqual({ until: TIME, strikes: 0 });
    expect((await run('keys', 'unban', id)).json.lifted).toEqual({ until: TIME, strikes: 0 });
    expect(await ban()).toEqual({ until: null, strikes: 0 });
  });

  test('CLI-36: without Redis the list shows no bans, unban refuses, and both say why in plain words', async () => {
    const options = { databaseUrl: database.url };
    await petstoreHere(['projects', 'create', 'other'], options);
    const { id } = (await petstoreHere(['keys', 'create', 'other', '--json'], options)).json;
    const REDIS_URL = 'redis://127.0.0.1:1';
    const away = (...args: string[]) => petstore(args, { databaseUrl: database.url, env: { REDIS_URL } });
    const [listed, ...answers] = await Promise.all([
      away('keys', 'list', 'other', '--json'),
      away('keys', 'list', 'other'),
      away('keys', 'unban', id),
      away('doctor'),
    ]);
    expect(listed).toMatchObject({ code: 0, json: { keys: [{ id, ban: null }] } });
    expect(answers.map(({ code }) => code)).toEqual([0, 1, 1]);
    for (const { stdout, stderr } of answers) {
      expect(stdout + stderr).toContain('127.0.0.1:1: nothing listens there');
      expect(stdout + stderr).not.toMatch(/Stream|enableOfflineQueue|retries|Unexpected/);
    }
  });
});
