import type { FastifyInstance } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import { restrictMethods } from './unrouted.js';

/** `/healthz`: the process is running. `/readyz`: it should get traffic. Neither needs a key, a Host or quota. */
export function healthRoutes(
  app: FastifyInstance,
  { isDraining, databaseProblem }: { isDraining(): boolean; databaseProblem(): Promise<string | null> },
): void {
  app.get('/healthz', async (_, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));

  app.get('/readyz', async (_, reply) => {
    if (isDraining()) throw new AppError('unavailable', 'This process is shutting down.');
    const problem = await databaseProblem();
    if (problem !== null) throw new AppError('unavailable', problem);
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  });
  for (const path of ['/healthz', '/readyz']) restrictMethods(app, path, ['GET']);
}
