import type { FastifyInstance } from 'fastify';
import { restrictMethods } from '../http/methods.js';
import { rateLimitSchema } from './schemas.js';

/** What is left of the quota and how the key stands, free of charge and also while the key is banned. */
export function rateLimitRoute(app: FastifyInstance): void {
  const options = { config: { admission: 'free' }, schema: { response: { 200: rateLimitSchema } } } as const;
  app.get('/rate_limit', options, async ({ standing }) => {
    if (!standing) throw new Error('admission did not ask the limiter');
    return standing;
  });
  restrictMethods(app, '/rate_limit', ['GET']);
}
