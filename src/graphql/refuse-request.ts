import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { ONE_UNIT } from '../admission/cost.js';
import type { Meter } from '../admission/meter.js';
import { errorHeaders, logFault, refusalOf } from '../http/error-reply.js';
import { toAppError } from '../http/to-app-error.js';
import type { AppError } from '../kernel/errors.js';
import { clientCode, refusalBody } from './execution/errors.js';

const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Errors from before Apollo, in GraphQL's form. GraphQL over HTTP: uses the newer media type if the client asks for it. */
export async function refuseRequest(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  meter: Meter,
): Promise<FastifyReply> {
  const appError = await chargeRefused(refusalOf(error, request, reply), request, reply, meter);
  request.errorCode = clientCode(appError);
  logFault(request, appError);
  const type = new Negotiator(request.raw).mediaType([JSON_TYPE, GRAPHQL_TYPE]) ?? JSON_TYPE;
  return reply
    .code(appError.status)
    .headers(errorHeaders(appError))
    .type(`${type}; charset=utf-8`)
    .send(refusalBody(appError));
}

/** A refused request costs one unit like any other. If the quota is spent, the 429 replaces the original error. */
async function chargeRefused(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  meter: Meter,
): Promise<AppError> {
  if (!request.caller || request.paidBy) return error;
  try {
    await meter.charge(request, reply, ONE_UNIT);
    return error;
  } catch (refused) {
    return toAppError(refused);
  }
}
