import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkConfig, type DomainConfig, effectOf } from '../../src/domains/domain-config.js';
import type { AppError } from '../../src/ground/kernel/errors.js';

const attached = ['example.com', 'www.example.com', 'old.example.com', 'xn--bcher-kva.example'].map(
  (hostname) => ({ hostname }),
);
const redirect = (from: string, to: string, status = 301) => ({ from, to, status });
const check = (redirects: DomainConfig['redirects'], primary: string | null = null) =>
  checkConfig({ primary, redirects }, attached);
const problemsOf = (redirects: DomainConfig['redirects'], primary: string | null = null) => {
  try {
    check(redirects, primary);
    return [];
  } catch (error) {
    return (error as AppError).errors?.map(({ field, message }) => `${field} ${message}`);
  }
};

test('Domains-Config-1: a primary domain and redirects with a status are accepted', () => {
  const redirects = [
    redirect('www.example.com', 'example.com'),
    redirect('old.example.com', 'example.com', 308),
  ];
  expect(check(redirects, 'example.com')).toEqual({ primary: 'example.com', redirects });
});

test('Domains-Config-2: an empty configuration is accepted', () => {
  expect(check([])).toEqual({ primary: null, redirects: [] });
});

test('Domains-Config-3: names are compared as DNS does, and come back normalised', () => {
  const wanted = [redirect('WWW.Example.com.', 'Bücher.example')];
  expect(check(wanted, ' EXAMPLE.com')).toEqual({
    primary: 'example.com',
    redirects: [redirect('www.example.com', 'xn--bcher-kva.example')],
  });
});

describe('Domains-Config-4: each problem is named by field', () => {
  const UNKNOWN = 'must be a domain attached to this project: add it first, or use another domain';
  test.each<[what: string, redirects: DomainConfig['redirects'], primary: string | null, problems: string[]]>(
    [
      ['a primary that is not attached', [], 'foreign.example', [`primary ${UNKNOWN}`]],
      ['a primary that is not a name', [], 'http://example.com', [`primary ${UNKNOWN}`]],
      [
        'a target that is not attached',
        [redirect('www.example.com', 'foreign.example')],
        null,
        [`redirects[0].to ${UNKNOWN}`],
      ],
      [
        'names that are all not attached',
        [redirect('www.example.com', 'example.com'), redirect('a.example', '__proto__')],
        null,
        [`redirects[1].from ${UNKNOWN}`, `redirects[1].to ${UNKNOWN}`],
      ],
      [
        'a primary that redirects',
        [redirect('Example.com', 'www.example.com')],
        'example.com',
        ['primary must serve the project: remove the redirect from example.com'],
      ],
      [
        'a redirect to itself',
        [redirect('example.com', 'EXAMPLE.com.')],
        null,
        ['redirects[0].to must be a different domain than from'],
      ],
      [
        'two redirects from one domain',
        [redirect('www.example.com', 'example.com'), redirect('WWW.example.com', 'old.example.com')],
        null,
        ['redirects[1].from must be unique: www.example.com already redirects'],
      ],
      [
        'of two redirects from one domain the second only: it closes no loop',
        [
          redirect('www.example.com', 'example.com'),
          redirect('www.example.com', 'old.example.com'),
          redirect('old.example.com', 'www.example.com'),
        ],
        null,
        ['redirects[1].from must be unique: www.example.com already redirects'],
      ],
      [
        'a loop of two',
        [redirect('www.example.com', 'example.com'), redirect('example.com', 'www.example.com')],
        null,
        ['redirects[1].to must not form a loop: example.com → www.example.com → example.com'],
      ],
      [
        'a loop of three, in any order',
        [
          redirect('old.example.com', 'example.com'),
          redirect('example.com', 'www.example.com'),
          redirect('www.example.com', 'old.example.com'),
        ],
        null,
        [
          'redirects[2].to must not form a loop: www.example.com → old.example.com → example.com → www.example.com',
        ],
      ],
      [
        'everything at once',
        [redirect('example.com', 'example.com', 200), redirect('x', 'y', 0)],
        'z',
        [
          `primary ${UNKNOWN}`,
          'redirects[0].to must be a different domain than from',
          'redirects[0].status must be 301, 302, 307 or 308 (got 200)',
          `redirects[1].from ${UNKNOWN}`,
          `redirects[1].to ${UNKNOWN}`,
          'redirects[1].status must be 301, 302, 307 or 308 (got 0)',
        ],
      ],
    ],
  )('%s', (_, redirects, primary, problems) => {
    expect(problemsOf(redirects, primary)).toEqual(problems);
  });
});

test.each([200, 300, 303, 304, 305, 309, 0, -301, 301.5, Number.NaN])(
  'Domains-Config-5: status %d is refused',
  (status) => {
    expect(problemsOf([redirect('www.example.com', 'example.com', status)])).toEqual([
      `redirects[0].status must be 301, 302, 307 or 308 (got ${status})`,
    ]);
  },
);

test.each([301, 302, 307, 308])('Domains-Config-6: status %d is accepted', (status) => {
  expect(problemsOf([redirect('www.example.com', 'example.com', status)])).toEqual([]);
});

test('Domains-Config-7: a list of more than 100 redirects is refused as a whole', () => {
  const many = Array.from({ length: 101 }, () => redirect('x', 'y'));
  expect(problemsOf(many)).toEqual(['redirects must have at most 100 entries']);
  expect(problemsOf(many.slice(1))).toHaveLength(200);
});

test('Domains-Config-8: a configuration is accepted exactly when it has no redirect loop', () => {
  const nodes = Array.from({ length: 8 }, (_, index) => `n${index}.example`);
  const hosts = nodes.map((hostname) => ({ hostname }));
  const target = fc.option(fc.constantFrom(...nodes), { nil: null });
  const graph = fc.array(target, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(graph, fc.infiniteStream(fc.nat()), (targets, order) => {
      const redirects = targets
        .flatMap((to, index) =>
          to === null ? [] : [{ at: order.next().value, entry: redirect(`n${index}.example`, to) }],
        )
        .sort((one, other) => one.at - other.at)
        .map(({ entry }) => entry);
      const leadsOut = (start: string) => {
        let here: string | undefined = start;
        for (let step = 0; step <= nodes.length && here !== undefined; step += 1) {
          const from: string = here;
          here = redirects.find((entry) => entry.from === from)?.to;
        }
        return here === undefined;
      };
      const accept = () => checkConfig({ primary: null, redirects }, hosts);
      if (nodes.every(leadsOut)) expect(accept()).toEqual({ primary: null, redirects });
      else expect(accept).toThrow(/^redirects/);
    }),
    { numRuns: 500 },
  );
});

test('Domains-Config-9: a dry run says for each attached domain what would happen', () => {
  const config = {
    primary: 'example.com',
    redirects: [
      redirect('www.example.com', 'example.com'),
      redirect('old.example.com', 'www.example.com', 307),
    ],
  };
  const serves = { action: 'SERVES', to: null, status: null };
  expect(attached.map(({ hostname }) => effectOf(config, hostname))).toEqual([
    { hostname: 'example.com', ...serves, isPrimary: true },
    { hostname: 'www.example.com', action: 'REDIRECTS', to: 'example.com', status: 301, isPrimary: false },
    {
      hostname: 'old.example.com',
      action: 'REDIRECTS',
      to: 'www.example.com',
      status: 307,
      isPrimary: false,
    },
    { hostname: 'xn--bcher-kva.example', ...serves, isPrimary: false },
  ]);
});
