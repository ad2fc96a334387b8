import { expect, test } from '@jest/globals';
import { requireFeatures } from '../support/servers/pebble.js';
import { firstWorking } from '../support/servers/programs/first-working.js';
import {
  requireVersion,
  Unsuitable,
  type VersionedServer,
} from '../support/servers/programs/oldest-versions.js';

const program = { file: '/usr/bin/server', args: [] };

const isTaken = (decide: () => void): boolean | string => {
  try {
    decide();
    return true;
  } catch (error) {
    if (!(error instanceof Unsuitable)) throw error;
    return error.message;
  }
};

/** Version lines of the packages of Debian 11, 12, 13 and its development suite, of Oracle, and of Ubuntu. */
const PRINTED: [VersionedServer, string, true | RegExp][] = [
  ['MySQL', 'Ver 9.7.4-2 for Linux on x86_64 ((Debian))', true],
  ['MySQL', 'Ver 8.4.6 for Linux on x86_64 (MySQL Community Server - GPL)', true],
  ['MySQL', 'Ver 8.0.42-0ubuntu0.24.04.1 for Linux on x86_64 ((Ubuntu))', true],
  [
    'MySQL',
    'Ver 8.0.29 for Linux on x86_64 (MySQL Community Server - GPL)',
    /is MySQL 8\.0\.29; .* 8\.0\.30/,
  ],
  ['MySQL', 'Ver 5.7.44 for Linux on x86_64 (MySQL Community Server (GPL))', /is MySQL 5\.7\.44;/],
  [
    'MySQL',
    'Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)',
    /is not MySQL: Ver 10/,
  ],
  ['MariaDB', 'Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64', true],
  ['MariaDB', 'Ver 10.11.18-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)', true],
  [
    'MariaDB',
    'Ver 10.3.39-MariaDB-0+deb10u2 for debian-linux-gnu on x86_64 (Debian 10)',
    /is MariaDB 10\.3\.39;/,
  ],
  ['MariaDB', 'Ver 9.7.4-2 for Linux on x86_64 ((Debian))', /is not MariaDB/],
  ['Redis', 'Redis server v=8.0.2 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=b52b02bf0759f5b4', true],
  ['Redis', 'Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=e08dbad3e06f3fb', true],
  [
    'Redis',
    'Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ad0f3ed608b40934',
    true,
  ],
  [
    'Redis',
    'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=6d95e1af3a2c082a',
    /is Redis 6\.0\.16; .* 7\.0\.0 or later \(CLUSTER ADDSLOTSRANGE/,
  ],
  ['Knot', 'knotd, Knot DNS 3.4.6', true],
  ['Knot', 'knotd (Knot DNS), version 3.0.5', true],
  ['Knot', 'knotd (Knot DNS), version 2.9.2', /is Knot 2\.9\.2;/],
  ['Unbound', 'Version 1.22.0\n\nConfigure line: --build=x86_64-linux-gnu\nLinked libs: OpenSSL 3.5.1', true],
  ['Unbound', 'Version 1.17.1\n\nConfigure line: --build=x86_64-linux-gnu', true],
  [
    'Unbound',
    'Version 1.13.1\n\nConfigure line: --build=x86_64-linux-gnu',
    /is Unbound 1\.13\.1; .*extended errors/,
  ],
];

test.each(PRINTED)('Servers-1: %s that prints "%s" is accepted: %s', (server, printed, expected) => {
  const found = isTaken(() => requireVersion(server, program, printed));
  if (expected === true) expect(found).toBe(true);
  else expect(found).toMatch(expected);
});

const PEBBLE_2_4 = {
  keyChange: 'https://127.0.0.1:1/rollover-account-key',
  meta: { externalAccountRequired: false, termsOfService: 'data:text/plain,Do%20what%20thou%20wilt' },
  newAccount: 'https://127.0.0.1:1/sign-me-up',
  newNonce: 'https://127.0.0.1:1/nonce-plz',
  newOrder: 'https://127.0.0.1:1/order-plz',
  revokeCert: 'https://127.0.0.1:1/revoke-cert',
};
const PEBBLE_2_6 = { ...PEBBLE_2_4, renewalInfo: 'https://127.0.0.1:1/draft-ietf-acme-ari-03/renewalInfo/' };
const PEBBLE_2_10 = {
  ...PEBBLE_2_6,
  meta: { ...PEBBLE_2_4.meta, caaIdentities: ['pebble.letsencrypt.org'], profiles: { default: '90 days' } },
};

test.each([
  ['2.4', PEBBLE_2_4, /offers no renewal information and no profiles; the tests need Pebble 2\.7/],
  ['2.6', PEBBLE_2_6, /offers no profiles;/],
  ['2.10', PEBBLE_2_10, true],
])('Servers-2: the directory of Pebble %s tells whether it is accepted', (_, directory, expected) => {
  const found = isTaken(() => requireFeatures(program, JSON.stringify(directory)));
  if (expected === true) expect(found).toBe(true);
  else expect(found).toMatch(expected as RegExp);
});

test('Servers-3: a rejected server is named in one line, once, and the next place is tried', async () => {
  const lines: string[] = [];
  const write = process.stderr.write;
  process.stderr.write = (text: string | Uint8Array) => lines.push(String(text)) > 0;
  const old = {
    name: 'installed redis-server',
    advice: 'install Redis 7 or later',
    find: async () => requireVersion('Redis', program, 'Redis server v=6.0.16 sha=00000000:0'),
  };
  const missing = {
    name: 'somewhere',
    advice: 'bring it',
    find: async () => {
      throw new Error('nothing here');
    },
  };
  const good = { name: 'packages', advice: '', find: async () => 'found' };
  try {
    expect(await firstWorking<unknown>('Redis', [missing, old, good])).toBe('found');
    expect(await firstWorking<unknown>('Redis', [old, good])).toBe('found');
    await expect(firstWorking<unknown>('Redis', [missing, old])).rejects.toThrow(
      /No Redis .*\n- somewhere: nothing here\n {2}→ bring it\n- installed redis-server: .*6\.0\.16.*\n {2}→ install/,
    );
  } finally {
    process.stderr.write = write;
  }
  expect(lines).toEqual([
    'The tests do not use the installed redis-server: /usr/bin/server is Redis 6.0.16; the tests need 7.0.0 or later (CLUSTER ADDSLOTSRANGE and cluster-port)\n',
  ]);
});
