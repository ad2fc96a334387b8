import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { AppError } from '../errors.js';
import { conditionalGet } from '../http/conditional-get.js';
import { restrictMethods } from '../http/methods.js';
import { ASSETS_PATH, type Encoding } from './page-assets.js';
import type { Pages } from './pages.js';

/** Browsers accept both equally. */
const SMALLEST_FIRST = ['br', 'gzip'] as const;
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** The pages for people, and the files that they load: no key is asked for, nothing is counted. */
export async function pagesDoor(app: FastifyInstance, { pages }: { pages: Pages }): Promise<void> {
  await app.register(assetRoutes, { pages });
  conditionalGet(app);
  app.get('/', async (request, reply) => {
    reply.header('vary', 'Origin, Accept');
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
async function assetRoutes(app: FastifyInstance, { pages }: { pages: Pages }): Promise<void> {
  const path = `${ASSETS_PATH}:name`;
  app.get<{ Params: { name: string } }>(path, async ({ params, raw }, reply) => {
    const asset = pages.assets.find(params.name);
    if (!asset) throw new AppError('not_found', 'There is nothing at this path.');
    const accepted = new Negotiator(raw).encodings([...SMALLEST_FIRST]);
    const chosen: Encoding = SMALLEST_FIRST.find((encoding) => accepted.includes(encoding)) ?? 'identity';
    if (chosen !== 'identity') reply.header('content-encoding', chosen);
    reply.headers({
      'content-type': asset.type,
      'cache-control': FOR_GOOD,
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Origin, Accept-Encoding',
    });
    return reply.send(asset.content[chosen]);
  });
  restrictMethods(app, path, ['GET']);
}
