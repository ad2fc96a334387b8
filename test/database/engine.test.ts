import { expect, test } from '@jest/globals';
import { databaseTarget } from '../../src/ground/config/config.js';
import { askEngine } from '../../src/ground/database/cluster/server-facts.js';

test.each([
  ['mysql://root@db/shop', '10.11.14-MariaDB-0+deb12u2', 'mariadb'],
  ['mysql://root@db/shop', '11.8.3-MariaDB-ubu2404-log', 'mariadb'],
  ['mariadb://root@db/shop', '8.4.6', 'mysql'],
  ['mysql://root@db/shop', '9.7.4-2', 'mysql'],
  ['sqlite:shop.sqlite', '3.45.1', 'sqlite'],
])(
  'Engine-1: a server at %s with version %s is %s, whatever its address says',
  async (url, version, engine) => {
    const asked = await askEngine(databaseTarget('DATABASE_URL', url), async () => [{ version }]);
    expect(asked).toEqual({ engine, version });
  },
);
