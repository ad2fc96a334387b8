import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestMetric } from '../metrics/metrics.js';

/** Whose address a request was sent to, whatever became of it. */
export function doorOf(url: string): RequestMetric['door'] {
  const [, first] = /^\/(graphql|v1)(?:[/?]|$)/.exec(url) ?? [];
  if (first === 'v1') return 'rest';
  return first === 'graphql' ? 'graphql' : 'other';
}

export function metricOf(request: FastifyRequest, reply: FastifyReply): RequestMetric {
  const { url, standing, paidBy, hasRefusedField } = request;
  const isAdmitted = standing && 'admitted' in standing && standing.admitted && !hasRefusedField;
  return {
    door: doorOf(url),
    status: reply.statusCode,
    seconds: reply.elapsedTime / 1000,
    decision: paidBy ? (isAdmitted ? 'admitted' : 'refused') : null,
    isOfPlan: paidBy === 'plan',
  };
}
