import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { AppError } from '../errors.js';
import { allowNoOrigin } from '../http/cors.js';
import { restrictMethods } from '../http/methods.js';
import { ASSETS_PATH } from './page-assets.js';
import type { Pages } from './pages.js';

const FOR_GOOD = 'public, max-age=31536000, immutable';

/** The pages for people, and the files that they load: they need no key and spend nothing. */
export async function pagesDoor(app: FastifyInstance, { pages }: { pages: Pages }): Promise<void> {
  allowNoOrigin(app);
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('vary', 'Accept-Encoding');
    done();
  });
  assetRoutes(app, pages);
  app.get('/', async (request, reply) => {
    reply.header('vary', 'Accept, Accept-Encoding');
    // Programs that look for an API here are told where it is not, as ever.
    if (new Negotiator(request.raw).mediaType(['text/html']) === undefined) {
      throw new AppError('not_found', 'There is only a page for browsers at this path.');
    }
    return pages.front(request, reply);
  });
  app.get('/graphiql', (request, reply) => pages.graphiql(request, reply));
  app.get('/v1/docs', (request, reply) => pages.reference(request, reply));
  for (const path of ['/', '/graphiql', '/v1/docs']) restrictMethods(app, path, ['GET']);
}

/** Each name stands for one content: it never has to be asked for again. */
function assetRoutes(app: FastifyInstance, { assets }: Pages): void {
  const path = `${ASSETS_PATH}:name`;
  app.get<{ Params: { name: string } }>(path, async (request, reply) => {
    const asset = assets.find(request.params.name);
    if (!asset) throw new AppError('not_found', 'There is nothing at this path.');
    reply.headers({
      'cache-control': FOR_GOOD,
      'cross-origin-resource-policy': 'same-origin',
    });
    return asset.send(request, reply);
  });
  restrictMethods(app, path, ['GET']);
}
