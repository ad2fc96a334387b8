import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type FastifyRequest, fastify } from 'fastify';
import { buildSchema } from 'graphql';
import { OperationCharges } from '../../src/doors/graphql/operation-charges.js';
import type { Meter } from '../../src/request/admission/meter.js';

test('Charges-1: while a refusal waits for its charge another answer may be sent, and only that one is', async () => {
  let settle = () => {};
  const meter = {
    charge: (request: FastifyRequest) => {
      request.paidBy = 'plan';
      return new Promise<void>((resolve) => {
        settle = resolve;
      });
    },
  } as unknown as Meter;
  const charges = new OperationCharges(buildSchema('type Query { toys: Int }'), meter);
  const app = fastify();
  app.addHook('onSend', charges.chargeUnpaid);
  app.get('/', (request, reply) => {
    Object.assign(request, { caller: {}, paidBy: null });
    reply.send('refused');
    reply.send('answered');
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const { body } = await app.inject('/');
  settle();
  await wait(20);
  process.off('unhandledRejection', note);
  expect([body, unhandled]).toEqual(['answered', []]);
});
