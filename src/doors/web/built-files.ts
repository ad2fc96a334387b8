import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { packageRoot } from '../../ground/kernel/package.js';
import { KeptBody } from '../../request/http/content/kept-body.js';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Vite's names of files with a digest. */
const HASHED = /-[\w-]{8}\.\w+$/;

export interface BuiltFile {
  /** The name contains a digest of the content. */
  readonly isHashed: boolean;
  readonly body: KeptBody;
}

/** Files by their path below the folder of their build, such as `assets/index-1a2b3c4d.js`. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

/** Returns the folder where `npm run build` puts the files of a part of `browser/`. */
export function builtFolder(part: 'pages' | 'dashboard'): string {
  return join(packageRoot(), 'dist/public', part);
}

/**
 * Reads every file of a build and its compressed forms: none if there is no build. Requests are answered from these
 * files, so no path of a client reaches the disk.
 */
export async function readBuiltFiles(folder: string): Promise<BuiltFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        const path = relative(folder, file).replaceAll(sep, '/');
        return [path, { isHashed: HASHED.test(path), body: await readBody(file) }] as const;
      }),
    ),
  );
}

/** Responds to GET and HEAD. The caller sets `Vary`. */
export function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { isHashed, body }: BuiltFile,
): FastifyReply {
  reply.headers({
    // A name with a digest belongs to one content, so a browser never has to request it again.
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  });
  return body.sendNegotiated(request, reply);
}

async function readBody(file: string): Promise<KeptBody> {
  const type = TYPES[extname(file)] ?? '';
  const read = (suffix: string) => readFile(file + suffix);
  // The build does not compress fonts a second time.
  if (type.startsWith('font/')) return new KeptBody(type, { identity: await read('') });
  const [identity, br, gzip] = await Promise.all([read(''), read('.br'), read('.gz')]);
  return new KeptBody(type, { identity, br, gzip });
}
