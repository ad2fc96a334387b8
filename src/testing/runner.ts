type Body = () => void | Promise<void>;
type Hook = (prepare: Body) => unknown;

/** The functions of a test runner, as Jest and Vitest export them. */
export interface Runner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly test: ((name: string, body: Body) => unknown) & {
    readonly skip: (name: string, body: Body) => unknown;
  };
  readonly beforeAll: Hook;
  readonly afterAll: Hook;
  readonly beforeEach: Hook;
}

/** That of `node --test`. Loaded here, because another runner may not know the module. */
export function nodeRunner(): Runner {
  const { describe, test, before, after, beforeEach } = process.getBuiltinModule('node:test');
  return { describe, test, beforeAll: before, afterAll: after, beforeEach };
}

export interface Tests extends Omit<Runner, 'afterAll'> {
  /** A test about a part of the noun. A run without the part reports it as skipped, with the reason. */
  testWith<Part>(
    part: Part | null,
    words: string,
    name: string,
    body: (part: Part) => void | Promise<void>,
  ): void;
}

export function testsOf({ describe, test, beforeAll, beforeEach }: Runner): Tests {
  return {
    describe,
    test,
    beforeAll,
    beforeEach,
    testWith(part, words, name, body) {
      if (part === null) test.skip(`${name} (the noun has no ${words})`, () => {});
      else test(name, () => body(part));
    },
  };
}
