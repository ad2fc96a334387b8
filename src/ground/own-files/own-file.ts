import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfigError } from '../config/config.js';
import { enableTypeScript } from './typescript.js';

const OURS = new URL('../../', import.meta.url).href;
const STACK_LINE = /^\s+at (?:.* \()?((?:file:\/\/)?\/.*:\d+:\d+)\)?$/;

/** The exports of an author's file. `what` names it. Throws `ConfigError` with the place of the fault in the author's files. */
export async function importOwn(what: string, path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(path);
  if (path.endsWith('.ts')) enableTypeScript(path);
  return import(href).catch((error) => {
    const { message = String(error) } = error as Error;
    const place = placeOf(error, href);
    const at = place === null || message.includes(place) ? '' : ` (${place})`;
    throw new ConfigError(`${what} ${path} could not be loaded: ${withStop(`${message}${at}`)}`);
  });
}

/** The first line of the author in the stack, such as `/home/me/shop/gateway.js:3:11`; null = there is none. */
function placeOf(error: unknown, href: string): string | null {
  // Node shows the place of a wrong token only when the error ends a process. Such a file has not run.
  if (error instanceof SyntaxError) return placeOfToken(href);
  const { stack = '' } = error as Error;
  const places = stack.split('\n').flatMap((line) => STACK_LINE.exec(line)?.[1] ?? []);
  const own = places
    .map(asPath)
    .find((place) => !place.startsWith(asPath(OURS)) && !/node_modules/.test(place));
  return own ?? null;
}

function placeOfToken(href: string): string | null {
  const load = ['--input-type=module', '--eval', `await import(${JSON.stringify(href)})`];
  const { stderr } = spawnSync(process.execPath, load, { encoding: 'utf8', timeout: 5_000 });
  const [place] = /^(?:file:\/\/)?\/.*:\d+$/m.exec(stderr) ?? [];
  return place === undefined ? null : asPath(place);
}

function asPath(place: string): string {
  return place.startsWith('file:') ? fileURLToPath(place) : place;
}

function withStop(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
