import { expect, test } from '@jest/globals';
import { report } from '../support/changes/finding.js';
import { Proof } from '../support/changes/proof/proof.js';
import { databaseKinds } from '../support/databases.js';

// `proof.long.test.ts` is the whole proof.
test.each(databaseKinds())(
  'Changes-Proof-7: on %s the copy of each subscriber equals the table at each cursor, through kills, restarts, a trim and a restore',
  async (kind) => {
    const proof = new Proof(kind, { writers: 2, writes: 1_500, kills: 6, stallMs: 1_500 });
    try {
      expect(report(await proof.run())).toBe('');
      expect(proof.summary.kills).toBe(6);
      expect(proof.faults()).toEqual([]);
    } finally {
      await proof.stop();
    }
  },
);
