import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DatabaseKind, databaseKinds } from '../support/databases.js';
import { conflict, fullDisk, killed, locked, onStatement, wrongClock } from '../support/durability/faults.js';
import { FaultyGateway } from '../support/durability/faulty-gateway.js';
import { type Circumstances, type Fault, sweep } from '../support/durability/sweep.js';
import { COMMAND_WRITES, MANAGEMENT_WRITES, TOY_WRITES, type Write } from '../support/durability/writes.js';
import { toysSchema } from '../support/gateway/tested-gateway.js';

const PLAIN: Circumstances = { isLogged: false, hasKey: false };
const FULL: Circumstances = { isLogged: true, hasKey: true };
const MIXED: readonly Circumstances[] = [
  { isLogged: true, hasKey: false },
  { isLogged: false, hasKey: true },
];

/** The answers of a cluster to a COMMIT that lost to another node's. */
const CONFLICTS: readonly (readonly [name: string, code: number, message?: string])[] = [
  ['1213', 1_213],
  ['1180', 1_180, 'Got error 149 - innermost secret'],
  ['3101', 3_101],
];

const nameOf = ({ isLogged, hasKey }: Circumstances) =>
  `${isLogged ? 'with' : 'without'} the change log, ${hasKey ? 'with' : 'without'} a key`;

/** A gateway starts again at each place where it is killed. */
const circumstancesOf = (fault: Fault) => (fault === killed ? [PLAIN, FULL] : [PLAIN, ...MIXED, FULL]);

/** The same promise for each write, on one gateway. */
function underFault(title: string, kind: DatabaseKind, fault: Fault, commands: readonly Write[] = []): void {
  describe(`on ${kind}`, () => {
    let gateway: FaultyGateway;
    beforeAll(async () => {
      gateway = await FaultyGateway.start(kind);
    });
    afterAll(() => gateway?.stop());
    const rounds = [
      ...TOY_WRITES.flatMap((write) =>
        circumstancesOf(fault).map((circumstances) => ({ write, circumstances })),
      ),
      ...[...MANAGEMENT_WRITES, ...commands].map((write) => ({ write, circumstances: PLAIN })),
    ].map((round) => ({ ...round, name: `${round.write.name} ${nameOf(round.circumstances)}` }));

    test.each(rounds)(`${title}: $name`, async ({ write, circumstances }) => {
      expect(await sweep(gateway, write, fault, circumstances)).toEqual([]);
      expect(gateway.logged()).toEqual([]);
    });
  });
}

test('Durable-1: every mutation of the schema but one is a write of these tests', async () => {
  const schema = await toysSchema();
  const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
  const names = [...TOY_WRITES, ...MANAGEMENT_WRITES].map(({ name }) => name);
  // To get a key banned takes seconds; Management-14 lifts a ban.
  expect(mutations.filter((name) => !names.includes(name))).toEqual(['unbanApiKey']);
});

for (const kind of databaseKinds()) {
  if (kind === 'sqlite') {
    underFault('Durable-2: a full disk at each write loses and does nothing', kind, fullDisk);
  } else {
    const lost = onStatement('lost');
    const late = onStatement('late');
    const full = onStatement('full');
    underFault('Durable-3: a lost answer doubles and loses nothing', kind, lost, COMMAND_WRITES);
    underFault('Durable-4: a late answer doubles and loses nothing', kind, late, COMMAND_WRITES);
    const lostCommit = onStatement('lost', true);
    const lateCommit = onStatement('late', true);
    underFault(
      'Durable-17: a lost answer to COMMIT doubles and loses nothing',
      kind,
      lostCommit,
      COMMAND_WRITES,
    );
    underFault(
      'Durable-18: a late answer to COMMIT doubles and loses nothing',
      kind,
      lateCommit,
      COMMAND_WRITES,
    );
    for (const [name, code, message] of CONFLICTS) {
      const title = `Durable-19: a write that lost to another node at COMMIT (${name}) runs again, and is done once`;
      underFault(title, kind, conflict(code, message), COMMAND_WRITES);
    }
    underFault('Durable-5: a full server loses and does nothing', kind, full, COMMAND_WRITES);
  }
  underFault('Durable-7: a write that a lock refused is never done', kind, locked(), COMMAND_WRITES);
  underFault('Durable-8: a clock a day ahead or behind loses nothing', kind, wrongClock());
  underFault('Durable-6: kill -9 behind each statement doubles and loses nothing', kind, killed);
}
