import { useSyncExternalStore } from 'react';

interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls the listener after each change. Returns a function that ends this. */
  subscribe(listener: () => void): () => void;
  /** The value for components, which render again when it changes. */
  use(): Value;
}

/** A value outside React that components subscribe to. */
export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    subscribe,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
