import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { allowNoOrigin } from '../http/cors.js';
import { restrictMethods } from '../http/methods.js';
import { type Asset, loadAssets } from './assets.js';

/** Nothing but our own files: no inline script or style, no other host, no frame, no form that leaves the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
const NOT_BUILT =
  'The dashboard is not built here. Run "npm run build" where the gateway is installed, then reload.';

interface DashboardDoorOptions {
  /** Where the built dashboard is, if not where `npm run build` puts it. */
  folder?: string;
}

/**
 * DOOR 3: the files of a browser client of DOOR 1. Mounted at `/dashboard`, on the platform's own hosts; needs no key and
 * spends nothing. Files are read and compressed once, at the first request.
 */
export async function dashboardDoor(
  app: FastifyInstance,
  { folder = builtFolder(import.meta.dirname) }: DashboardDoorOptions,
): Promise<void> {
  let loaded: ReturnType<typeof loadAssets> | null = null;
  allowNoOrigin(app);
  app.addHook('onRequest', async ({ site }, reply) => {
    if (site.projectId !== null) throw new AppError('not_found', 'There is nothing at this path.');
    reply.headers(HEADERS);
  });
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    loaded ??= loadAssets(folder);
    const assets = await loaded;
    if (!assets) {
      loaded = null;
      return reply.code(503).header('cache-control', 'no-store').type('text/plain').send(NOT_BUILT);
    }
    const path = (request.params as { '*'?: string })['*'] ?? '';
    const asset = assets.get(path);
    if (asset) return send(request, reply, asset);
    // Every other address is a page of the client, which knows its own pages. A file that is gone is not a page.
    if (path.startsWith('assets/'))
      throw new AppError('not_found', 'There is no such file any more. Reload the page.');
    return send(request, reply, assets.get('index.html') as Asset);
  };
  for (const path of ['/', '/*']) {
    app.get(path, serve);
    restrictMethods(app, path, ['GET']);
  }
}

function send(request: FastifyRequest, reply: FastifyReply, { isHashed, body }: Asset): FastifyReply {
  reply.headers({
    vary: 'accept-encoding',
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-store',
  });
  return body.send(request, reply);
}

/** Where `npm run build` puts the dashboard: in the package, wherever in it this file runs, as source or built. */
function builtFolder(from: string): string {
  return existsSync(join(from, 'package.json')) ? join(from, 'dist/dashboard') : builtFolder(dirname(from));
}
