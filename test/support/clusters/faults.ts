import { setTimeout as pause } from 'node:timers/promises';
import type { Balancer } from './load.js';
import type { Place, ThreeGateways } from './three-gateways.js';

interface Scene {
  readonly all: ThreeGateways;
  /** Where it happens, if it happens at one place. */
  readonly place: Place;
  readonly balancer: Balancer;
  /** Requests may fail from this moment on. */
  note(): void;
}

/** Something that happens to a cluster. */
interface Fault {
  readonly name: string;
  run(scene: Scene): Promise<void>;
}

const AWAY_MS = 8_000;
/** The longest that a request takes. */
const LAST_WRITES_MS = 5_000;

/** In this order. */
export const FAULTS: readonly Fault[] = [
  away('kill -9 of a node, and its return with its data', {
    leave: (node) => node.kill('SIGKILL'),
    comeBack: (node) => node.recover(),
  }),
  away('a node is cut off', { leave: (node) => node.cut(), comeBack: (node) => node.join() }),
  away('a node is frozen for 8 s', {
    leave: (node) => node.kill('SIGSTOP'),
    comeBack: (node) => node.kill('SIGCONT'),
  }),
  {
    name: 'Redis fails over',
    run: async ({ all, note }) => {
      const master = await all.redis.master();
      note();
      await master.kill('SIGKILL');
      await pause(AWAY_MS);
      await master.restart();
    },
  },
  {
    name: 'rolling restart of the gateways',
    run: async ({ all, note }) => {
      for (const place of all.places) {
        note();
        await place.restart();
      }
    },
  },
  {
    name: 'a migration',
    run: async ({ all, place, balancer, note }) => {
      balancer.writesAt = all.places.indexOf(place);
      await pause(LAST_WRITES_MS);
      note();
      await all.migrate(place.node);
      balancer.writesAt = null;
    },
  },
];

type Step = (node: Place['node']) => Promise<void>;

/** A node is away for 8 s. */
function away(name: string, { leave, comeBack }: { leave: Step; comeBack: Step }): Fault {
  return {
    name,
    run: async ({ place: { node }, note }) => {
      note();
      await leave(node);
      await pause(AWAY_MS);
      note();
      await comeBack(node);
    },
  };
}
