import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { ConfigError } from '../config/config.js';

/** For the thread of the hooks. */
export interface Compiler {
  readonly tsc: string;
  /** A file for each source. */
  readonly cache: string;
}

let isEnabled = false;

/** Node 22.18 and later remove the types themselves. */
export function runsTypeScript(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript);
}

/**
 * Lets this process import TypeScript. Its files keep their URLs, so what they find by `import.meta.url` is there. Throws
 * `ConfigError` if neither Node nor a compiler beside the file can do it. D-273.
 */
export function enableTypeScript(file: string): void {
  if (isEnabled || runsTypeScript()) return;
  process.setSourceMapsEnabled(true);
  register(new URL('./typescript-hooks.js', import.meta.url), { data: compilerFor(file) });
  isEnabled = true;
}

function compilerFor(file: string): Compiler {
  try {
    // The author's own, 4.9 or later. A peer dependency would refuse the install beside another version, and change nothing else.
    const manifest = createRequire(file).resolve('typescript/package.json');
    return {
      tsc: join(manifest, '..', 'bin', 'tsc'),
      cache: join(manifest, '..', '..', '.cache', 'petstore-gateway'),
    };
  } catch {
    throw new ConfigError(
      `${file} is TypeScript, which Node ${process.versions.node} does not run. Use Node 22.18 or later, or the compiler: npm install --save-dev typescript`,
    );
  }
}
