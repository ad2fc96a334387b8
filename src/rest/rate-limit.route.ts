import type { FastifyInstance } from 'fastify';
import { restrictMethods } from '../http/methods.js';
import { rateLimitSchema } from './schemas.js';

/** The remaining quota and the key's ban state. Costs no quota, and works also while the key is banned. */
export function rateLimitRoute(app: FastifyInstance): void {
  const config = { operationId: 'getRateLimit', admission: 'free' } as const;
  const options = { config, schema: { response: { 200: rateLimitSchema } } };
  app.get('/rate_limit', options, async ({ standing }) => {
    if (!standing) throw new Error('admission did not ask the limiter');
    return standing;
  });
  restrictMethods(app, '/rate_limit', ['GET']);
}
