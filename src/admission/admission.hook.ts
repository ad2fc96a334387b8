import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.js';
import type { Admission } from './admission.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on the routes that need no key. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Answered without a key. */
    isPublic?: boolean;
  }
}

/** Puts admission in front of every route of this part of the server, unknown paths included. */
export function admitCallers(
  app: FastifyInstance,
  admission: Admission,
  isPublic: (request: FastifyRequest) => boolean = () => false,
): void {
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    // A preflight carries no credentials.
    const skipped = request.method === 'OPTIONS' || request.routeOptions.config.isPublic || isPublic(request);
    if (!skipped) request.caller = await admission.admit(request.headers.authorization);
  });
}

/** The caller of a request that went through admission. */
export function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (!caller) throw new Error('a route that needs a caller is marked public');
  return caller;
}
