import { expect, test } from '@jest/globals';
import { scriptedServer } from '../support/client/scripted-server.js';
import { toysClient } from '../support/client/toys-client.js';

test.each(['petstore', 'acme-books', 'changes'])(
  'Client-26: the cursor of a list is found in the header of any gateway, such as %s-changes-cursor',
  async (slug) => {
    const server = await scriptedServer([
      { status: 200, headers: { [`${slug}-changes-cursor`]: 'Yzo0Mi4x' }, body: '[]' },
    ]);
    try {
      const all = toysClient(server.url, 'key').toys.all();
      for await (const _ of all) throw new Error('the list is empty');
      expect(all.changesCursor).toBe('Yzo0Mi4x');
    } finally {
      await server.stop();
    }
  },
);
