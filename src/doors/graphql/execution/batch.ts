import type { Context } from './context.js';

/**
 * Loads together everything that the fields of one operation request at the same moment, for any number of parents and
 * aliases. Caches nothing: a later field, or another request, loads again. D-209.
 */
export class Batch<Key, Result> {
  private readonly open = new WeakMap<
    Context,
    { keys: Map<Key, number>; results: Promise<readonly Result[]> }
  >();

  /** `load` gets each key once, and returns a result for each, in their order. */
  constructor(
    private readonly load: (context: Context, keys: readonly Key[]) => Promise<readonly Result[]>,
  ) {}

  /** The result of the key. Rejects with the error of `load`. */
  async join(context: Context, key: Key): Promise<Result> {
    const { keys, results } = this.open.get(context) ?? this.begin(context);
    const at = keys.get(key) ?? keys.size;
    keys.set(key, at);
    return (await results)[at] as Result;
  }

  private begin(context: Context) {
    const keys = new Map<Key, number>();
    // Resolvers of one level start in the same turn of the event loop, some of them after settled promises. The next tick
    // comes after all of them.
    const haveRun = new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)));
    const results = haveRun.then(() => {
      this.open.delete(context);
      return this.load(context, [...keys.keys()]);
    });
    const batch = { keys, results };
    this.open.set(context, batch);
    return batch;
  }
}
