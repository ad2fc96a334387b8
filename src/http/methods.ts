import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';

/** Answers OPTIONS with `Allow`, and every method that the path does not have with 405. RFC 9110 §15.5.6. */
export function restrictMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly string[],
  config: FastifyContextConfig = {},
): void {
  const allow = [...methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])), 'OPTIONS'];
  app.options(url, async (_, reply) => reply.code(204).header('allow', allow.join(', ')).send());
  app.route({
    url,
    method: app.supportedMethods.filter((name) => !allow.includes(name)),
    exposeHeadRoute: false,
    config,
    // Before the body is read: its type does not matter any more.
    onRequest: async (request, reply) => {
      reply.header('allow', allow.join(', '));
      const offer = `This path has ${allow.join(', ')}.`;
      throw new AppError('method_not_allowed', `${request.method} is not possible here. ${offer}`);
    },
    handler: async () => {},
  });
}
