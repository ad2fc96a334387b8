import { domainToASCII, domainToUnicode } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelOf, normalizeHostname, parseHostname } from '../../src/domains/names/hostname.js';
import { AppError } from '../../src/ground/kernel/errors.js';

const PLATFORM = ['petstore.localhost', 'api.petstore.example', 'localhost', '127.0.0.1'];
const parse = (input: string) => parseHostname(input, PLATFORM);

function refusal(input: string): string {
  try {
    return `accepted as ${parse(input).hostname}`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error).toMatchObject({ code: 'invalid_request', errors: [{ field: 'hostname' }] });
    return error.errors?.[0]?.message ?? '';
  }
}

describe('Domains-Name-1: a name is accepted in the forms that people write', () => {
  test.each([
    ['shop.example.com', 'shop.example.com'],
    ['WWW.Example.COM.', 'www.example.com'],
    ['  shop.example.com\n', 'shop.example.com'],
    ['\ufeffshop.example.com', 'shop.example.com'],
    ['https://www.example.org/', 'www.example.org'],
    [' HTTP://Shop.Example.com ', 'shop.example.com'],
    ['shop.example.com/', 'shop.example.com'],
    ['https://bücher.example./', 'xn--bcher-kva.example'],
    ['shop.exam\u00adple.com', 'shop.example.com'],
    ['ｓｈｏｐ。ｅｘａｍｐｌｅ．ｃｏｍ', 'shop.example.com'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['straße.de', 'xn--strae-oqa.de'],
    ['STRASSE.de', 'strasse.de'],
    ['faß.de', 'xn--fa-hia.de'],
    ['XN--FA-HIA.de', 'xn--fa-hia.de'],
    ['💩.la', 'xn--ls8h.la'],
    ['مثال.إختبار', 'xn--mgbh0fb.xn--kgbechtv'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['1.example.com', '1.example.com'],
    ['0x7f.com', '0x7f.com'],
    ['foo.1a', 'foo.1a'],
    ['a--b.example.com', 'a--b.example.com'],
    ['notpetstore.test', 'notpetstore.test', ['petstore.test']],
    ['onion.example', 'onion.example'],
    ['myonion.test', 'myonion.test'],
    ['local.internal.example.com', 'local.internal.example.com'],
    ['nothome.example', 'nothome.example'],
    ['petstore.example', 'petstore.example'],
    [`${'a'.repeat(63)}.example.com`, `${'a'.repeat(63)}.example.com`],
  ])('%s', (input, expected, hosts: string[] = PLATFORM) => {
    expect(parseHostname(input, hosts).hostname).toBe(expected);
  });
});

describe('Domains-Name-2: the registrable domain comes from the public suffix list, including its private section', () => {
  test.each([
    ['shop.example.com', 'example.com', false],
    ['example.com', 'example.com', true],
    ['www.example.com', 'example.com', false],
    ['www.shop.example.com', 'example.com', false],
    ['a.b.example.co.uk', 'example.co.uk', false],
    ['foo.github.io', 'foo.github.io', true],
    ['city.kawasaki.jp', 'city.kawasaki.jp', true],
    ['shop.公司.cn', 'shop.xn--55qx5d.cn', true],
    ['shop.customer.test', 'customer.test', false],
    ['customer.test', 'customer.test', true],
  ])('%s', (input, registrableDomain, isApexByList) => {
    expect(parse(input)).toMatchObject({ registrableDomain, isApexByList });
  });
});

describe('Domains-Name-5: an unusable name is refused with an example of what to enter instead', () => {
  test.each<[kind: string, inputs: string[], message: RegExp]>([
    [
      'a pasted URL, port, path or address',
      [
        'HTTPS://Shop.Example.com:8443/a?b#c',
        '//shop.example.com/',
        'https://shop.example.com//',
        'ftp://shop.example.com',
        'https://shop.example.com/a',
        'https://shop.example.com:443/',
        'https://shop.example.com?x',
        'shop.example.com/a%20b',
        'shop.example.com:443',
        'shop.example.com?x',
        'shop.example.com#x',
        'me@shop.example.com',
        'http://user:pass@shop.example.com/',
        'shop%2eexample.com',
      ],
      /host name only.*e\.g\. shop\.example\.com$/,
    ],
    [
      'other signs',
      [
        'shop example.com',
        'shop\texample.com',
        'shop\u0000.example.com',
        'a,b.com',
        'a;b.com',
        'http://',
        '[x]',
        'a\\b.com',
        "a'b.com",
      ],
      /host name only.*e\.g\. /,
    ],
    [
      'an IP address in any form',
      [
        '1.2.3.4',
        '1.2.3.4.',
        '１.２.３.４',
        '1。2.3.4',
        '𝟏.2.3.4',
        '0x7f.1',
        '127.1',
        '2130706433',
        '0x7f000001',
        '017700000001',
        '256.1.1.1',
        '1.2.3.4.5',
        'shop.123',
        'shop.0x1',
        '::1',
        '[::1]',
        '::ffff:1.2.3.4',
        'fe80::1%eth0',
      ],
      /not an IP address/,
    ],
    ['a wildcard', ['*.example.com', '＊.example.com', '*。example.com'], /wildcards.*www\.example\.com$/],
    ['a strange wildcard', ['*.*.example.com', '*.\u0000'], /wildcards.*www\.example\.com$/],
    ['a star elsewhere', ['a*.example.com', 'shop.*.com', '*'], /host name only/],
    [
      'a public suffix',
      ['co.uk', 'github.io', 'CO.UK.', 'foo.kawasaki.jp', 's3.amazonaws.com'],
      /public suffix.*www\.yourname\./,
    ],
    [
      'a host of the platform',
      ['petstore.localhost', 'demo.petstore.localhost', 'a.b.API.petstore.example', 'x.localhost'],
      /belongs to this platform/,
    ],
    [
      'a name that public DNS never has (RFC 6761, 6762, 7686, 8375, 9476)',
      [
        'shop.onion',
        'SHOP.ONION.',
        'ｓｈｏｐ。ｏｎｉｏｎ',
        'a.b.internal',
        'printer.local',
        'shop.invalid',
        'shop.alt',
        'home.arpa',
        'nas.home.arpa',
        '2.0.192.in-addr.arpa',
        '8.b.d.0.1.0.0.2.ip6.arpa',
        'e164.arpa',
      ],
      /^must be a name of the public DNS: \.[a-z0-9.-]+ .*\(.*\), so no .*\. Enter a name .*e\.g\. shop\.example\.com$/,
    ],
    ['a single label', ['localhost', 'com', 'test', 'shop.', 'xn--zckzah'], /full name with its domain/],
    ['nothing', ['', '   ', '\n'], /must not be empty/],
    [
      'empty labels',
      ['..', '.example.com', 'shop..example.com', 'example.com..', '。。'],
      /between its dots/,
    ],
    [
      'hyphens at an end',
      ['-shop.example.com', 'shop-.example.com', 'shop.example.com-', '-.com'],
      /hyphen next to a dot/,
    ],
    ['an underscore', ['_acme-challenge.example.com', 'my_shop.example.com'], /underscore/],
    ['reserved hyphens', ['ab--cd.example.com', '1---a.example.com'], /third and fourth/],
    ['a label too long', [`${'a'.repeat(64)}.example.com`, `${'ü'.repeat(63)}.com`], /at most 63/],
    [
      'a name too long',
      [`${'abc.'.repeat(63)}com`, 'a'.repeat(1_001), 'ü.'.repeat(1_000_000)],
      /at most 253/,
    ],
    [
      'a label that decodes to no text, or to the text of another label (RFC 5891 §5.4)',
      [
        'xn--a.com',
        'XN--A.COM',
        'xn--0.pt',
        'xn--zzzzzzzz99999999.com',
        'shop.xn--zzz0.com',
        'xn--bcher-kva.xn--a-yoc.com',
        // Of an upper-case letter, of a variant that is mapped to another, and of ASCII letters alone.
        'xn--bcher-kva.xn--u-ccb.com',
        'xn--zn7c.com',
        'xn--xn---epa.com',
      ],
      /^must not have xn--.*: this is no valid encoding of a name\. .*e\.g\. bücher\.example$/,
    ],
    ['hyphens at the end of a label', ['xn--.com', 'xn--abc-.com'], /hyphen next to a dot|no valid encoding/],
    [
      'characters that no name has',
      ['a\u200db.com', '\u202emoc.elpmaxe', '\ud800.com', '\ufffd.com', '.'],
      /letters, digits, hyphens and dots only/,
    ],
  ])('%s', (_, inputs, message) => {
    for (const input of inputs)
      expect([input.slice(0, 99), refusal(input)]).toEqual([
        input.slice(0, 99),
        expect.stringMatching(message),
      ]);
  });
});

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom(...'aB1.-_*:/%[]@ 。ßж\u0000xn'), maxLength: 40 }),
  fc.domain(),
  fc.webUrl(),
  fc.ipV4(),
  fc.ipV6(),
);

test('Domains-Name-6: a normalised name normalises to itself, and is valid for DNS and for a CA', () => {
  fc.assert(
    fc.property(anything, (input) => {
      const name = normalizeHostname(input);
      if (name === null) return;
      expect(normalizeHostname(name)).toBe(name);
      expect(normalizeHostname(` ${name.toUpperCase()}.`)).toBe(name);
      expect(name.length).toBeLessThanOrEqual(253);
      expect(name).toMatch(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    }),
    { numRuns: 3_000 },
  );
});

test('Domains-Name-11: a label of Punycode is accepted exactly if it is the encoding of its text', () => {
  const label = fc.string({ unit: fc.constantFrom(...'abkvz0189-'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(label, (rest) => {
      const name = `xn--${rest}.example`;
      if (normalizeHostname(name) === null) return;
      const text = domainToUnicode(name);
      expect(text).toMatch(/[^\0-\x7f]/);
      expect(normalizeHostname(text)).toBe(name);
    }),
    { numRuns: 3_000 },
  );
  const words = fc.array(fc.constantFrom(...'aübßжع公é1'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(words, (letters) => {
      const name = domainToASCII(`${letters.join('')}.example`);
      if (!name.startsWith('xn--')) return;
      expect([name, normalizeHostname(name)]).toEqual([name, name]);
    }),
  );
});

test('Domains-Name-7: any input is accepted, or refused for the field hostname with a bounded message', () => {
  fc.assert(
    fc.property(anything, (input) => {
      expect(refusal(input).length).toBeLessThan(600);
    }),
    { numRuns: 3_000 },
  );
});

test('Domains-Name-10: a text that URL refuses is refused, also by code that V8 has optimized', () => {
  const verdicts = new Set(Array.from({ length: 20_000 }, () => normalizeHostname('ß%aa')));
  expect([...verdicts]).toEqual([null]);
});

test("Domains-Name-8: no name below the platform's own hosts is accepted", () => {
  fc.assert(
    fc.property(
      fc.domain(),
      fc.constantFrom('petstore.localhost', 'API.Petstore.Example.'),
      (label, host) => {
        expect(refusal(`${label}.${host}`)).not.toContain('accepted');
      },
    ),
  );
});

test.each([
  ['example.com', '@'],
  ['shop.example.com', 'shop'],
  ['a.b.example.co.uk', 'a.b'],
  ['_petstore-verify.shop.example.com', '_petstore-verify.shop'],
  ['example.github.io', '@'],
  ['localhost', '@'],
])('Domains-Name-9: most DNS providers want %s as %s', (name, label) => {
  expect(labelOf(name)).toBe(label);
});
