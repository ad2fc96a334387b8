import { constants, createContext } from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** All files of a worker have this realm, because it has the modules that they share. */
const plain = createContext(constants.DONT_CONTEXTIFY);
/** Also the metadata of the entities and resolvers that the files share. */
const KEPT = new Set([...Reflect.ownKeys(plain), 'typeormMetadataArgsStorage', 'TypeGraphQLMetadataStorage']);

/**
 * Jest's environment for Node with an ordinary global object. Jest's own is a proxy in a vm context.
 * There each use of `Math`, `Map` or `JSON`, by a test or by tested code, takes a hundred times as long.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    forgetGlobals();
    for (const key of Reflect.ownKeys(this.global)) {
      if (Object.hasOwn(plain, key)) continue;
      const descriptor = Object.getOwnPropertyDescriptor(this.global, key);
      // Jest's accessors define the value on Jest's global object when they are first used.
      Object.defineProperty(plain, key, 'value' in descriptor ? descriptor : lazily(key, descriptor));
    }
    // As in Jest's environment: Node returns instances of these classes.
    Object.assign(plain, { global: plain, ArrayBuffer, Uint8Array });
    this.context = plain;
    this.global = plain;
    this.moduleMocker = new this.moduleMocker.constructor(plain);
    const { projectConfig } = config;
    this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: projectConfig, global: plain });
  }
}

/** Deletes what the file before has left. */
function forgetGlobals() {
  for (const key of Reflect.ownKeys(plain)) if (!KEPT.has(key)) Reflect.deleteProperty(plain, key);
}

/** Node loads many of its globals when they are first used. */
function lazily(key, { enumerable }) {
  const set = (value) =>
    Object.defineProperty(plain, key, { configurable: true, enumerable, writable: true, value });
  const get = () => set(globalThis[key])[key];
  return { configurable: true, enumerable, get, set };
}
