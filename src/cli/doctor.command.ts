import type { Command } from 'commander';
import { CHECKS } from './doctor-checks.js';
import type { Finding } from './finding.js';
import { EXIT, type Output } from './output.js';

export function doctorCommand(program: Command, output: Output): void {
  program
    .command('doctor')
    .description('Check whether the gateway can run here, and say what to do when not. Changes nothing.')
    .addHelpText('after', '\nExamples:\n  $ petstore doctor\n  $ petstore doctor --json | jq .checks')
    .action(async () => {
      const checks: { name: string; ok: boolean; found: string; remedy: string | null }[] = [];
      for (const { name, run } of CHECKS) {
        const finding = await run().catch(asProblem);
        // What does not apply here, such as a disk with a MySQL server, is not mentioned.
        if (finding) checks.push({ name, ...finding });
      }
      const ok = checks.every((check) => check.ok);
      const lines = checks.map(({ name, ok, found, remedy }) =>
        [
          `${ok ? 'ok      ' : 'PROBLEM '} ${name}: ${found}`,
          ...(remedy ? [`         → ${remedy}`] : []),
        ].join('\n'),
      );
      output.result({ ok, checks }, lines.join('\n'));
      if (!ok) process.exitCode = EXIT.refused;
    });
}

function asProblem(error: Error): Finding {
  return { ok: false, found: `the check itself failed: ${error.message}`, remedy: 'Report this as a fault.' };
}
