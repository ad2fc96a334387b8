import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { RunResult } from '../../bench/report.js';

const RESULTS = 'bench/results.json';
const MOST_COMMITS = 40;

test(`Bench-6: ${RESULTS} was measured at most ${MOST_COMMITS} commits before the newest change of the request path`, async () => {
  const { commit } = JSON.parse(await readFile(RESULTS, 'utf8')) as RunResult;
  expect(commit).toMatch(/^[0-9a-f]{7,40}$/);
  const lines = (await readFile('docs/request-path.md', 'utf8')).split('\n');
  const steps = lines.filter((line) => line.startsWith('|')).join();
  const folders = new Set(steps.match(/(?<=`)src\/[\w/-]+(?=\/[\w.-]+\.ts`)/g));
  expect(folders.size).toBeGreaterThan(10);
  // A copy without this history, such as an archive, is as old as the commit that it was made of. D-197.
  const newest = git('log', '-1', '--format=%H', '--', ...folders);
  const commits = newest && git('rev-list', '--count', `${commit}..${newest}`);
  expect(Number(commits ?? 0)).toBeLessThanOrEqual(MOST_COMMITS);
});

function git(...args: string[]): string | null {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
