import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import { MERGE_PATCH } from './content/json-body.js';
import { ALLOW_METHODS } from './cors.js';

/** Responds to OPTIONS with `Allow`, and to every method that the path does not support with 405. RFC 9110 §15.5.6. */
export function restrictMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  config: FastifyContextConfig = {},
): void {
  const allow = [...methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])), 'OPTIONS'];
  app.options(url, async (_, reply) => {
    // Pages may send what the path supports, also beyond what every path does.
    if (reply.hasHeader(ALLOW_METHODS) && methods.includes('PATCH'))
      reply.header(ALLOW_METHODS, allow.slice(0, -1).join(', '));
    // RFC 5789 §3.1.
    if (methods.includes('PATCH')) reply.header('accept-patch', `application/json, ${MERGE_PATCH}`);
    return reply.code(204).header('allow', allow.join(', ')).send();
  });
  app.route({
    url,
    method: app.supportedMethods.filter((name) => !allow.includes(name)),
    exposeHeadRoute: false,
    config,
    // Before the body is read: its type no longer matters.
    onRequest: async (request, reply) => {
      reply.header('allow', allow.join(', '));
      const offer = `This path supports ${allow.join(', ')}.`;
      throw new AppError('method_not_allowed', `${request.method} is not supported here. ${offer}`);
    },
    handler: async () => {},
  });
}

/** Responds with 404 in the gateway's format where this part of the server has no route, after its hooks. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
}
