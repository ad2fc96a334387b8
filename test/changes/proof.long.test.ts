import { expect, test } from '@jest/globals';
import { report } from '../support/changes/finding.js';
import { Proof } from '../support/changes/proof/proof.js';
import { databaseKinds } from '../support/databases.js';

const WRITES = Number(process.env.PROOF_WRITES ?? 200_000);
const KILLS = Number(process.env.PROOF_KILLS ?? 50);
const LONGEST_MS = 3_600_000;
/** Files of this tier run a failed test again, which would hide a race. */
const failed = new Set<string>();

test.each(databaseKinds())(
  'Changes-Proof-8: on %s, of 200,000 writes by four processes each subscriber has every change once and in order, through 50 kills',
  async (kind) => {
    expect([...failed]).not.toContain(kind);
    failed.add(kind);
    const proof = new Proof(kind, { writers: 4, writes: WRITES, kills: KILLS, stallMs: 17_000 });
    try {
      const findings = await proof.run();
      process.stdout.write(`${kind}: ${JSON.stringify(proof.summary)}\n`);
      expect(report(findings)).toBe('');
      expect(proof.summary.acknowledged).toBeGreaterThanOrEqual(WRITES);
      expect(proof.summary.kills).toBe(KILLS);
      expect(proof.faults()).toEqual([]);
      failed.delete(kind);
    } finally {
      await proof.stop();
    }
  },
  LONGEST_MS,
);
