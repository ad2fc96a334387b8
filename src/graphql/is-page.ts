import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

/** Apollo's own list plus the page's type: among types that a client accepts equally, the first one wins. */
const APOLLO_TYPES = [
  'application/json; charset=utf-8',
  'application/graphql-response+json; charset=utf-8',
  'multipart/mixed; deferSpec=20220824',
  'multipart/mixed; incrementalSpec=v0.2',
  'multipart/mixed',
  'text/html',
];

/** Whether a browser wants the page, by the rule of Apollo's own landing page. Nothing is executed. */
export function isPage(request: FastifyRequest): boolean {
  const isRead = ['GET', 'HEAD'].includes(request.method) && request.headers.accept !== undefined;
  return isRead && new Negotiator(request.raw).mediaType(APOLLO_TYPES) === 'text/html';
}
