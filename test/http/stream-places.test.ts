import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/ground/kernel/caller.js';
import { ProjectSignals } from '../../src/ground/records/project-signals.js';
import { OpenStreams, type Stream } from '../../src/request/streams/open-streams.js';
import type { KnownKey } from '../../src/tenants/api-keys/caller-cache.js';
import { NOON_MS } from '../support/limiter/charges.js';

const caller = { projectId: 1n, keyId: 1n, changesSinceMs: 0 } as Caller;
let streams = 0;
const aStream = (): Stream => {
  streams += 1;
  return { id: `${streams}`, caller, needsLog: true, isServed: null, sentAtMs: 0, beat() {}, end() {} };
};

test('Streams-38: the sixth refusal of a key within a second looks nothing up, and a closed stream makes room at once', async () => {
  let lookUps = 0;
  const findKeys = async () => {
    lookUps += 1;
    return new Map([[1n, { caller, expiresAtMs: null, mostStreams: 1 } as KnownKey]]);
  };
  const open = new OpenStreams(null, findKeys, new ProjectSignals(), () => NOON_MS);
  const first = aStream();
  await open.open(first);
  for (let sent = 0; sent < 20; sent += 1) {
    await expect(open.open(aStream())).rejects.toMatchObject({ code: 'too_many_streams' });
  }
  // A slow machine may need more than a second.
  expect(lookUps).toBeLessThan(16);
  open.close(first);
  await open.open(aStream());
});
