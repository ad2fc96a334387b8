import type { FastifyInstance, FastifyReply } from 'fastify';
import { AppError } from '../errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    answerTimer: NodeJS.Timeout | undefined;
  }
}

/** The time in which a request must be answered is over. */
export class AnswerTooLate extends AppError {
  constructor() {
    super('unavailable', 'The answer took too long. Try again shortly.', { retryAfterSeconds: 1 });
  }
}

/**
 * Answers in place of a handler, or of a body, that takes longer. Fastify's `handlerTimeout` does the same with an
 * AbortController for each request, whose abortion at the end captures a stack.
 */
export function answerWithin(app: FastifyInstance, withinMs: number): void {
  app.decorateRequest('answerTimer', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    request.answerTimer = setTimeout(refuse, withinMs, reply).unref();
    done();
  });
  app.addHook('onResponse', (request, _, done) => {
    clearTimeout(request.answerTimer);
    done();
  });
}

function refuse(reply: FastifyReply): void {
  // Who has left gets no answer.
  if (reply.sent || reply.raw.destroyed) return;
  if (reply.raw.headersSent) reply.raw.destroy();
  else reply.send(new AnswerTooLate());
}
