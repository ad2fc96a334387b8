import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, EntityManager } from 'typeorm';

type Transaction = <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>;

/**
 * TypeORM has one connection per SQLite file, so other statements between two steps of a transaction would become part of
 * it and be rolled back with it. Here they wait until the transaction has ended.
 */
export function sqliteTransactions(source: DataSource): Transaction {
  const owner = new AsyncLocalStorage<symbol>();
  let open: { token: symbol; ended: Promise<void> } | null = null;
  let running = 0;
  let onIdle: (() => void) | null = null;

  const runner = source.createQueryRunner();
  const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
  const isolated = async (...args: unknown[]) => {
    while (open && owner.getStore() !== open.token) await open.ended;
    running += 1;
    try {
      return await query(...args);
    } finally {
      running -= 1;
      if (running === 0) onIdle?.();
    }
  };
  runner.query = isolated as typeof runner.query;

  return async (work) => {
    while (open) await open.ended;
    const token = Symbol('transaction');
    let end = () => {};
    open = {
      token,
      ended: new Promise((resolve) => {
        end = resolve;
      }),
    };
    if (running > 0) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    try {
      return await owner.run(token, () => source.transaction(work));
    } finally {
      open = null;
      onIdle = null;
      // Otherwise Node follows every promise of the process, requests included.
      owner.disable();
      end();
    }
  };
}
