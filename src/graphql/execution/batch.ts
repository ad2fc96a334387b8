import type { Context } from './context.js';

/**
 * Loads together everything that the fields of one operation request at the same moment, for any number of parents and
 * aliases. Caches nothing: a later field, or another request, loads again. D-209.
 */
export class Batch<Key, Result> {
  private readonly open = new WeakMap<Context, { keys: Key[]; result: Promise<Result> }>();

  constructor(private readonly load: (context: Context, keys: readonly Key[]) => Promise<Result>) {}

  /** The result for all keys of the batch. Rejects with the error of `load`. */
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

/**
 * Resolvers of one level start in the same turn of the event loop, some of them after settled promises. The next tick
 * comes after all of them.
 */
function resolversHaveRun(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
