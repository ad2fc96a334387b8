import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import Negotiator from 'negotiator';
import { replyWithError } from '../http/error-reply.js';
import { restrictMethods } from '../http/methods.js';
import { AppError } from '../kernel/errors.js';
import { sendBuiltFile } from './built-files.js';
import { ASSETS_PATH } from './pages/page-assets.js';
import type { Pages } from './pages.js';

const PATHS = [
  '/',
  '/docs',
  '/graphiql',
  '/schema.graphql',
  '/v1/docs',
  '/v1/docs/search.json',
  '/v1/docs/:slug',
];

/** The pages for people, and the files that they load: they need no key and spend nothing. */
export function pagesDoor(app: FastifyInstance, pages: Pages): void {
  assetRoutes(app, pages);
  app.get('/', async (request, reply) => {
    reply.header('vary', 'Accept, Accept-Encoding');
    // Programs that expect an API here get a 404.
    if (new Negotiator(request.raw).mediaType(['text/html']) === undefined) {
      throw new AppError('not_found', 'This path has only a page for browsers.');
    }
    return pages.front(request, reply);
  });
  app.get('/graphiql', (request, reply) => pages.graphiql(request, reply));
  app.get('/schema.graphql', (request, reply) => pages.schema(request, reply));
  app.get('/docs', (_, reply) => reply.redirect('/v1/docs', 301));
  app.get('/v1/docs', (request, reply) => pages.reference(request, reply, ''));
  app.get('/v1/docs/search.json', (request, reply) => pages.searchIndex(request, reply));
  app.get<{ Params: { slug: string } }>('/v1/docs/:slug', (request, reply) =>
    pages.reference(request, reply, request.params.slug),
  );
  for (const path of PATHS) restrictMethods(app, path, ['GET']);
}

/** Shows people a page where there is nothing. Programs, which do not prefer HTML, keep the Error body. */
export function notFoundForPeople(app: FastifyInstance, pages: Pages): void {
  app.setErrorHandler(async (error, request, reply) => {
    const isPage = error instanceof AppError && error.code === 'not_found' && prefersHtml(request);
    if (!isPage) return replyWithError(error, request, reply);
    request.errorCode = error.code;
    try {
      return await pages.notFound(request, reply);
    } catch (fault) {
      // The name of the host's project can't be read now.
      request.log.warn({ reason: String(fault) }, "the page for people can't be shown");
      return replyWithError(error, request, reply);
    }
  });
}

function prefersHtml({ method, raw }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  // Challenges are answered on every host, also on one that is not served. The gateway sends no page to its origin.
  const isChallenge = raw.url?.startsWith('/.well-known/acme-challenge/');
  return (
    isRead && !isChallenge && new Negotiator(raw).mediaType(['application/json', 'text/html']) === 'text/html'
  );
}

/** Tells caches that the response depends on the accepted encodings. */
export const varyByEncoding: onRequestHookHandler = (_, reply, done) => {
  reply.header('vary', 'Accept-Encoding');
  done();
};

function assetRoutes(app: FastifyInstance, { files }: Pages): void {
  const path = `${ASSETS_PATH}:name`;
  app.get<{ Params: { name: string } }>(path, async (request, reply) => {
    const file = files.get(request.params.name);
    if (!file) throw new AppError('not_found', 'There is nothing at this path.');
    return sendBuiltFile(request, reply, file);
  });
  restrictMethods(app, path, ['GET']);
}
