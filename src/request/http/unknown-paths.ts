import type { FastifyInstance } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';

/** Responds with 404 in the gateway's format where this part of the server has no route, after its hooks. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
}
