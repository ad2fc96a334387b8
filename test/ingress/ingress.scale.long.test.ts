import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { HostIndex } from '../../src/domains/hosts/host-index.js';
import { insertDomains } from '../support/domains/many-domains.js';
import { startApp } from '../support/start-app.js';

const MANY = 100_000;
const MANY_MB = 60;

function heapMb(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test('Domains-Index-1: 100,000 domains take less than 60 MB, and a look-up costs no query', async () => {
  const queries: string[] = [];
  const app = await startApp({ onQuery: (sql) => queries.push(sql) });
  try {
    await insertDomains(app, MANY);
    queries.length = 0;
    const before = heapMb();
    const index = new HostIndex(app.db);
    await index.start({ isPolling: false });
    queries.length = 0;
    const usedMb = heapMb() - before;
    for (let number = 0; number < MANY; number += 1) {
      if (!index.findHost(`shop-${number}.customer-${number}.example.com`))
        throw new Error(`${number} is missing`);
      if (index.findHost(`random-${number}.example.com`)) throw new Error('a host that is not there');
    }
    expect(index.size).toBe(MANY);
    expect(usedMb).toBeLessThan(MANY_MB);
    expect(queries).toEqual([]);
  } finally {
    await app.stop();
  }
});
