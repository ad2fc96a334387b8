import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import Negotiator from 'negotiator';
import { AppError } from '../../ground/kernel/errors.js';
import { replyWithError } from '../../request/http/error-reply.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { sendBuiltFile } from './built-files.js';
import { type Pages, refuseUnknownPage } from './pages.js';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** The pages for people, and the files that they load: they need no key and spend nothing. */
export function pagesDoor(app: FastifyInstance, pages: Pages): void {
  const routes: Record<string, Handler> = {
    '/': (request, reply) => front(request, reply, pages),
    '/docs': (_, reply) => reply.redirect('/v1/docs', 301),
    '/graphiql': (request, reply) => pages.graphiql(request, reply),
    '/schema.graphql': (request, reply) => pages.schema(request, reply),
    '/v1/docs': (request, reply) => pages.reference(request, reply),
    '/v1/docs/': (_, reply) => reply.redirect('/v1/docs', 301),
    '/v1/docs/search.json': (request, reply) => pages.searchIndex(request, reply),
    '/v1/docs/site.json': (request, reply) => pages.siteFacts(request, reply),
    '/v1/docs/:name': (request, reply) => pages.reference(request, reply, nameIn(request)),
    '/v1/docs/*': (request, reply) => withoutSlash(request, reply),
    '/pages/:name': (request, reply) => sendAsset(request, reply, pages),
  };
  for (const [path, handler] of Object.entries(routes)) {
    app.get(path, async (request, reply) => handler(request, reply));
    restrictMethods(app, path, ['GET']);
  }
}

/** Shows people a page where there is nothing. Programs, which do not prefer HTML, keep the Error body. */
export function notFoundForPeople(app: FastifyInstance, pages: Pages): void {
  app.setErrorHandler(async (error, request, reply) => {
    const isPage = error instanceof AppError && error.code === 'not_found' && prefersHtml(request);
    if (!isPage) return replyWithError(error, request, reply);
    request.errorCode = error.code;
    return pages.notFound(request, reply);
  });
}

/** Tells caches that the response depends on the accepted encodings. */
export const varyByEncoding: onRequestHookHandler = (_, reply, done) => {
  reply.header('vary', 'Accept-Encoding');
  done();
};

/** People add a slash to the address of a page; no page is deeper. Throws `AppError not_found`. */
function withoutSlash({ params }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [, name] = /^([\w-]+)\/$/.exec((params as { '*': string })['*']) ?? refuseUnknownPage();
  return reply.redirect(`/v1/docs/${name}`, 301);
}

/** Programs that expect an API at `/` get a 404. */
async function front(request: FastifyRequest, reply: FastifyReply, pages: Pages): Promise<FastifyReply> {
  reply.header('vary', 'Accept, Accept-Encoding');
  if (new Negotiator(request.raw).mediaType(['text/html']) === undefined) {
    throw new AppError('not_found', 'This path has only a page for browsers.');
  }
  return pages.front(request, reply);
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, { files }: Pages): FastifyReply {
  const file = files.get(nameIn(request));
  // The pages themselves are at other paths.
  if (!file?.isHashed) throw new AppError('not_found', 'There is nothing at this path.');
  return sendBuiltFile(request, reply, file);
}

const nameIn = ({ params }: FastifyRequest) => (params as { name: string }).name;

function prefersHtml({ method, raw }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  // Challenges are answered on every host, also on one that is not served. The gateway sends no page to its origin.
  const isChallenge = raw.url?.startsWith('/.well-known/acme-challenge/');
  return (
    isRead && !isChallenge && new Negotiator(raw).mediaType(['application/json', 'text/html']) === 'text/html'
  );
}
