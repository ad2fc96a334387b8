import type { Context } from './context.js';

/**
 * Loads together what the fields of one operation ask for at the same moment, whatever the number of parents and aliases.
 * Keeps nothing: a field that asks later, or another request, loads again.
 */
export class Batch<Key, Result> {
  private readonly open = new WeakMap<Context, { keys: Key[]; result: Promise<Result> }>();

  constructor(private readonly load: (context: Context, keys: readonly Key[]) => Promise<Result>) {}

  /** The result for all keys of the batch. Rejects with what `load` rejects with. */
  join(context: Context, key: Key): Promise<Result> {
    const { keys, result } = this.open.get(context) ?? this.begin(context);
    keys.push(key);
    return result;
  }

  private begin(context: Context) {
    const keys: Key[] = [];
    const result = resolversHaveRun().then(() => {
      this.open.delete(context);
      return this.load(context, keys);
    });
    const batch = { keys, result };
    this.open.set(context, batch);
    return batch;
  }
}

/** Resolvers of one level start in one turn, some of them after promises that are settled; then the next tick comes. */
function resolversHaveRun(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
