import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.js';

/** Answers 404 in our form where this part of the server has no route, after its hooks. */
export function refuseUnknownPaths(app: FastifyInstance): void {
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'There is nothing at this path.');
  });
}
