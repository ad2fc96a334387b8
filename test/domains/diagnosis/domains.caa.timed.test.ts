import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CaaRule, checkCaa, parseIssueProperty } from '../../../src/domains/diagnosis/caa.js';
import { isBlocking } from '../../../src/domains/diagnosis/diagnosis.js';
import {
  type Answer,
  type CaaRecord,
  DnsUnreachable,
  type Question,
  type ResourceRecord,
} from '../../../src/domains/dns/dns-message.js';

const ACCOUNT = 'https://ca.example/acct/1?a=b';
const RULE: CaaRule = {
  identities: ['ca.example', 'ca.example.net'],
  accountUrl: ACCOUNT,
  platformHost: 'shops.platform.test',
};
const NOW_MS = 1_790_000_000_000;

const caa = (text: string): CaaRecord => {
  const [, flags, tag = '', value = ''] = /^(\d+) (\S+) "(.*)"$/s.exec(text) ?? [];
  return { isCritical: Number(flags) >= 128, tag, value };
};
const objections = (records: string[], rule: Partial<CaaRule> = {}) =>
  checkCaa(resolver({ test: { caa: records } }).ask, 'test', { ...RULE, ...rule });
const codes = async (records: string[], rule: Partial<CaaRule> = {}) =>
  (await objections(records, rule)).map(({ code }) => code);

describe('CAA-1: a set of records allows or blocks as RFC 8659 and RFC 8657 say', () => {
  test.each<[what: string, records: string[], codes: string[]]>([
    ['our CA', ['0 issue "ca.example"'], []],
    ['our CA by its second identity', ['0 issue "ca.example.net"'], []],
    ['our CA in capitals', ['0 ISSUE "CA.Example"'], []],
    ['our CA among blanks', ['0 issue " \t ca.example\t "'], []],
    ['our CA with an empty list of parameters', ['0 issue "ca.example;"'], []],
    ['our CA with an unknown parameter', ['0 issue "ca.example; policy=ev"'], []],
    ['our CA and another one', ['0 issue "other.example"', '0 issue "ca.example"'], []],
    ['our CA, and a record that allows none', ['0 issue ";"', '0 issue "ca.example"'], []],
    ['our CA in a critical record', ['128 issue "ca.example"'], []],
    ['a reporting address only', ['0 iodef "mailto:a@example.com"'], []],
    ['a record that forbids wildcards only', ['0 issuewild ";"'], []],
    ['an unknown tag that may be ignored', ['0 tbs "unknown"'], []],
    ['another CA', ['0 issue "other.example"'], ['CAA_BLOCKS_CA']],
    ['a name below our CA', ['0 issue "x.ca.example"'], ['CAA_BLOCKS_CA']],
    ['our CA for wildcards only', ['0 issue ";"', '0 issuewild "ca.example"'], ['CAA_BLOCKS_CA']],
    ['nobody', ['0 issue ";"'], ['CAA_BLOCKS_CA']],
    ['an empty value, which allows none', ['0 issue ""'], ['CAA_BLOCKS_CA']],
    ['nobody, with a parameter', ['0 issue "; policy=ev"'], ['CAA_BLOCKS_CA']],
    ['a URL instead of a name', ['0 issue "https://ca.example"'], ['CAA_BLOCKS_CA']],
    ['a name with a trailing dot', ['0 issue "ca.example."'], ['CAA_BLOCKS_CA']],
    ['two names in one record', ['0 issue "other.example ca.example"'], ['CAA_BLOCKS_CA']],
    ['a comma instead of a semicolon', ['0 issue "ca.example, policy=ev"'], ['CAA_BLOCKS_CA']],
    ['a parameter without a value', ['0 issue "ca.example; policy"'], ['CAA_BLOCKS_CA']],
    ['a semicolon after the last parameter', ['0 issue "ca.example; policy=ev;"'], ['CAA_BLOCKS_CA']],
    ['a blank in a value', ['0 issue "ca.example; policy=e v"'], ['CAA_BLOCKS_CA']],
    ['a line break around the name', ['0 issue "\nca.example"'], ['CAA_BLOCKS_CA']],
    ['a control character', ['0 issue "ca.example\u0000"'], ['CAA_BLOCKS_CA']],
    ['an unknown critical tag', ['128 tbs "x"', '0 issue "ca.example"'], ['CAA_UNKNOWN_CRITICAL']],
    ['both faults', ['128 tbs "x"', '0 issue ";"'], ['CAA_UNKNOWN_CRITICAL', 'CAA_BLOCKS_CA']],
    ['our account', [`0 issue "ca.example; accounturi=${ACCOUNT}"`], []],
    ['another account', ['0 issue "ca.example; accounturi=https://ca.example/acct/2"'], ['CAA_ACCOUNT']],
    [
      'our account twice',
      [`0 issue "ca.example; accounturi=${ACCOUNT}; accounturi=${ACCOUNT}"`],
      ['CAA_ACCOUNT'],
    ],
    ['an empty account', ['0 issue "ca.example; accounturi="'], ['CAA_ACCOUNT']],
    ['our method', ['0 issue "ca.example; validationmethods=dns-01,http-01"'], []],
    ['other methods', ['0 issue "ca.example; validationmethods=dns-01,tls-alpn-01"'], ['CAA_METHOD']],
    ['no method', ['0 issue "ca.example; validationmethods="'], ['CAA_METHOD']],
    ['a malformed list of methods', ['0 issue "ca.example; validationmethods=http-01,"'], ['CAA_METHOD']],
    [
      'methods in two parameters',
      ['0 issue "ca.example; validationmethods=http-01; validationmethods=http-01"'],
      ['CAA_METHOD'],
    ],
    [
      'another account and other methods',
      ['0 issue "ca.example; accounturi=https://x; validationmethods=dns-01"'],
      ['CAA_ACCOUNT', 'CAA_METHOD'],
    ],
    [
      'the account in one record and the method in another: only the nearest is reported',
      [
        '0 issue "ca.example; accounturi=https://x; validationmethods=dns-01"',
        `0 issue "ca.example; accounturi=${ACCOUNT}; validationmethods=dns-01"`,
      ],
      ['CAA_METHOD'],
    ],
    [
      'a record that allows, and one that does not',
      ['0 issue "ca.example; validationmethods=dns-01"', '0 issue "ca.example"'],
      [],
    ],
  ])('%s', async (_, records, expected) => {
    expect(await codes(records)).toEqual(expected);
  });
});

test('CAA-2: while the names of the CA are unknown, only a set that allows no CA blocks', async () => {
  expect(await codes(['0 issue "other.example"'], { identities: [] })).toEqual([]);
  expect(await codes(['0 issue ";"'], { identities: [] })).toEqual(['CAA_BLOCKS_CA']);
  expect(await codes(['0 iodef "mailto:a@example.com"'], { identities: [] })).toEqual([]);
});

test('CAA-3: adding the proposed record allows the certificate', async () => {
  const tag = fc.constantFrom('issue', 'ISSUE', 'issuewild', 'iodef', 'tbs');
  const parameter = fc.constantFrom(
    '',
    '; accounturi=https://ca.example/acct/2',
    '; validationmethods=dns-01',
    '; validationmethods=,; accounturi=x',
    ';;',
  );
  const record = fc
    .tuple(tag, fc.constantFrom('', 'ca.example', 'other.example', 'bad domain'), parameter)
    .map(([name, issuer, rest]) => `0 ${name} "${issuer}${rest}"`);
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 5 }), async (records) => {
      for (const { remedy } of await objections(records)) {
        const [, added = ''] = /^Add test CAA (.*)\.$/.exec(remedy) ?? [];
        expect(await objections([...records, added])).toEqual([]);
      }
    }),
  );
});

test('CAA-4: parsing copes with any value, however long or strange', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseIssueProperty(text)));
  const started = performance.now();
  for (const filler of [' ', 'a-', 'a.', ';', '=', 'a=', '\t;']) {
    parseIssueProperty(`a${filler.repeat(60_000)}!`);
    parseIssueProperty(`ca.example; a=b${filler.repeat(60_000)}!`);
  }
  expect(performance.now() - started).toBeLessThan(1_000);
});

/** A recursive resolver with fixed answers by name. A name that is not listed exists without CAA records. */
function resolver(zone: Record<string, { rcode?: string; error?: string; cname?: string; caa?: string[] }>) {
  const asked: string[] = [];
  const ask = async (question: Question): Promise<Answer> => {
    asked.push(question.name);
    const { rcode = 'NOERROR', error, cname, caa: values = [] } = zone[question.name] ?? {};
    const server = { address: '2001:db8::53', port: 53 };
    if (rcode === 'timeout') return new DnsUnreachable(server, question, 'timeout', NOW_MS);
    const record = (type: string, value: string, name: string): ResourceRecord => ({
      name,
      type,
      ttlSeconds: 300,
      value,
      caa: type === 'CAA' && value !== 'unreadable' ? caa(value) : null,
    });
    return {
      server,
      question,
      rcode,
      isAuthoritative: false,
      records: [
        ...(cname === undefined ? [] : [record('CNAME', cname, question.name)]),
        ...values.map((value) => record('CAA', value, cname ?? question.name)),
      ],
      authority: [],
      glue: [],
      extendedError: error === undefined ? null : { code: 9, text: error },
      atMs: NOW_MS,
    };
  };
  return { ask, asked };
}

const HOST = 'www.shop.customer.test';

test('CAA-5: the check climbs from the name to the top-level domain, and asks for nothing else, not even the root', async () => {
  const { ask, asked } = resolver({});
  expect(await checkCaa(ask, HOST, RULE)).toEqual([]);
  expect(asked).toEqual([HOST, 'shop.customer.test', 'customer.test', 'test']);
});

test('CAA-6: the first set counts: records and failures further up neither block nor allow', async () => {
  const { ask, asked } = resolver({
    'shop.customer.test': { caa: ['0 issue "ca.example"'] },
    'customer.test': { caa: ['0 issue "other.example"'] },
    test: { rcode: 'SERVFAIL' },
  });
  expect(await checkCaa(ask, HOST, RULE)).toEqual([]);
  expect(asked).toHaveLength(2);
  const blocked = resolver({
    'shop.customer.test': { caa: ['0 issue ";"'] },
    test: { caa: ['0 issue "ca.example"'] },
  });
  expect(await checkCaa(blocked.ask, HOST, RULE)).toMatchObject([{ code: 'CAA_BLOCKS_CA' }]);
});

test('CAA-7: a finding names the place, the allowed authorities, and the record to add', async () => {
  const { ask } = resolver({
    [HOST]: { rcode: 'NXDOMAIN' },
    'customer.test': { caa: ['0 issue "other.example"', '0 issue "third.example; a=b"'] },
  });
  expect(await checkCaa(ask, HOST, RULE)).toEqual([
    {
      code: 'CAA_BLOCKS_CA',
      severity: 'ERROR',
      actor: 'OWNER',
      cause:
        'CAA records allow only other.example, third.example, not our certificate authority, at customer.test.',
      remedy: 'Add customer.test CAA 0 issue "ca.example".',
      retryAtMs: null,
      evidence: [
        {
          server: '[2001:db8::53]:53',
          question: 'customer.test CAA',
          answer:
            'NOERROR: customer.test. CAA 0 issue "other.example"; customer.test. CAA 0 issue "third.example; a=b"',
          ttlSeconds: 300,
          atMs: NOW_MS,
        },
      ],
    },
  ]);
});

test("CAA-8: the proposed record keeps the owner's restrictions", async () => {
  const limits = 'accounturi=https://ca.example/acct/2; validationmethods=dns-01';
  const { ask } = resolver({ 'customer.test': { caa: [`0 issue "ca.example; ${limits}"`] } });
  const found = await checkCaa(ask, HOST, RULE);
  expect(found.map(({ code }) => code)).toEqual(['CAA_ACCOUNT', 'CAA_METHOD']);
  for (const { remedy } of found) {
    expect(remedy).toBe(
      `Add customer.test CAA 0 issue "ca.example; accounturi=${ACCOUNT}; validationmethods=http-01".`,
    );
  }
});

describe('CAA-9: the records at the end of a CNAME count', () => {
  test("records of the platform override those of the customer's zone", async () => {
    const { ask, asked } = resolver({
      [HOST]: { cname: 'shops.platform.test', caa: ['0 issue "ca.example"'] },
      'customer.test': { caa: ['0 issue ";"'] },
    });
    expect(await checkCaa(ask, HOST, RULE)).toEqual([]);
    expect(asked).toEqual([HOST]);
  });

  test("records of the target's parents do not: the climb continues from the name", async () => {
    const { ask, asked } = resolver({
      [HOST]: { cname: 'shops.platform.test' },
      'platform.test': { caa: ['0 issue ";"'] },
    });
    expect(await checkCaa(ask, HOST, RULE)).toEqual([]);
    expect(asked).not.toContain('platform.test');
  });

  test('blocking records of the platform are for the platform to change', async () => {
    const { ask } = resolver({ [HOST]: { cname: 'shops.platform.test', caa: ['0 issue ";"'] } });
    expect(await checkCaa(ask, HOST, RULE)).toMatchObject([
      {
        actor: 'PLATFORM',
        cause: expect.stringMatching(/at shops\.platform\.test, the CNAME target of www\.shop/),
      },
    ]);
  });

  test('blocking records of another owner are avoided by a CNAME straight to the platform', async () => {
    const { ask } = resolver({ [HOST]: { cname: 'old.example.net', caa: ['0 issue "other.example"'] } });
    expect(await checkCaa(ask, HOST, RULE)).toMatchObject([
      {
        actor: 'OWNER',
        remedy: expect.stringMatching(/^Point www\.shop.* straight to shops\.platform\.test/),
      },
    ]);
  });
});

describe('CAA-10: a lookup that fails anywhere in the climb blocks', () => {
  test.each(['SERVFAIL', 'REFUSED', 'NOTIMP', 'FORMERR'])('%s blames the DNS provider', async (rcode) => {
    for (const name of [HOST, 'customer.test', 'test']) {
      const { ask } = resolver({ [name]: { rcode, error: 'no key' } });
      const found = await checkCaa(ask, HOST, RULE);
      expect(found).toMatchObject([{ code: 'CAA_LOOKUP_FAILED', actor: 'DNS_PROVIDER' }]);
      expect(found.every(isBlocking)).toBe(true);
      expect(found[0]?.cause).toContain(
        `${name} answer the question for CAA records with ${rcode} (DNSKEY Missing: no key)`,
      );
      expect(found[0]?.evidence[0]?.answer).toBe(`${rcode} (DNSKEY Missing: no key)`);
    }
  });

  test('no answer is a problem for nobody, and is retried automatically', async () => {
    const { ask, asked } = resolver({
      'customer.test': { rcode: 'timeout' },
      test: { caa: ['0 issue ";"'] },
    });
    expect(await checkCaa(ask, HOST, RULE)).toMatchObject([
      {
        code: 'CAA_LOOKUP_FAILED',
        severity: 'ERROR',
        actor: 'NOBODY',
        remedy: expect.stringContaining('automatically'),
        evidence: [{ question: 'customer.test CAA', answer: 'timeout', ttlSeconds: null, atMs: NOW_MS }],
      },
    ]);
    expect(asked.at(-1)).toBe('customer.test');
  });

  test('a record that cannot be read blocks too', async () => {
    const { ask } = resolver({ 'customer.test': { caa: ['unreadable', '0 issue "ca.example"'] } });
    expect(await checkCaa(ask, HOST, RULE)).toMatchObject([{ code: 'CAA_LOOKUP_FAILED' }]);
  });
});

test('CAA-11: text from foreign DNS is shown bounded and without control characters', async () => {
  const values = Array.from({ length: 50 }, (_, index) => `0 issue "a${index}.example"`);
  const { ask } = resolver({ test: { caa: [...values, `128 \u001b[31m${'x'.repeat(5_000)} "y"`] } });
  const found = await checkCaa(ask, HOST, RULE);
  expect(found.map(({ code }) => code)).toEqual(['CAA_UNKNOWN_CRITICAL', 'CAA_BLOCKS_CA']);
  expect(found[1]?.cause).toContain('a4.example and 45 more');
  expect(JSON.stringify(found).length).toBeLessThan(5_000);
  expect(JSON.stringify(found)).not.toContain('u001b');
});
