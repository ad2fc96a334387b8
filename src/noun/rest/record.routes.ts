import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { nameIgnored } from '../../doors/rest/rest.hooks.js';
import { AppError } from '../../ground/kernel/errors.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { isCurrentTag, strongTag } from '../../request/http/content/entity-tag.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import type { NounModel } from '../definition/model.js';
import type { NounService } from '../records/noun.service.js';
import type { NounRow } from '../records/row.js';
import { rulesOf, schemasOf } from '../records/schemas.js';

/** The routes of one record: GET, PATCH (RFC 7396) and DELETE. */
export function addRecordRoutes(
  app: FastifyInstance,
  model: NounModel,
  service: NounService,
  present: (row: NounRow) => Record<string, unknown>,
): void {
  const { singular, plural, type } = model.description;
  const path = `/${plural}/:id`;
  const { record } = schemasOf(model);
  const { tagOf, expectation } = recordTags(model, present);
  const idOf = ({ params }: FastifyRequest) => parseRecordId((params as { id: string }).id, singular);

  const getting = { schema: { response: { 200: record } }, config: { operationId: `get${type}` } };
  app.get(path, getting, async (request, reply) => {
    const row = await service.get(serviceCallOf(request, reply), idOf(request));
    nameIgnored(reply);
    return present(row);
  });

  const rules = rulesOf(model);
  const fields = model.shown.map(({ name }) => name);
  const changing = { schema: { response: { 200: record } }, config: { operationId: `update${type}` } };
  app.patch(path, changing, async (request, reply) => {
    const changes = rules.parseChanges(request.body, 'body');
    const call = serviceCallOf(request, reply);
    const row = await service.update(call, idOf(request), changes, fields, expectation(request, reply));
    nameIgnored(reply);
    reply.header('etag', tagOf(row, reply));
    return present(row);
  });

  const deleting = { config: { operationId: `delete${type}` }, onRequest: dropTypeOfNothing };
  app.delete(path, deleting, async (request, reply) => {
    await service.delete(serviceCallOf(request, reply), idOf(request), expectation(request, reply));
    nameIgnored(reply);
    return reply.code(204).send();
  });
  restrictMethods(app, path, ['GET', 'PATCH', 'DELETE']);
}

/** The entity tags of records, for answers and for If-Match. */
export function recordTags(model: NounModel, present: (row: NounRow) => Record<string, unknown>) {
  const { singular } = model.description;
  const { record } = schemasOf(model);
  /** The tag of its GET, whose body is made by the same schema. */
  const tagOf = (row: NounRow, reply: FastifyReply) =>
    strongTag(reply.serializeInput(present(row), record) as string);
  /** For a change: throws `AppError precondition_failed` unless the request expects the record as it is. RFC 9110 §13.1.1. */
  const expectation = ({ headers }: FastifyRequest, reply: FastifyReply) => {
    const ifMatch = headers['if-match'];
    if (ifMatch === undefined) return undefined;
    return (before: NounRow) => {
      if (isCurrentTag(ifMatch, tagOf(before, reply))) return;
      const message = `The ${singular} ${before.id} was changed since: its ETag is not in If-Match. Read it again, then decide.`;
      throw new AppError('precondition_failed', message);
    };
  };
  return { tagOf, expectation };
}

/** Many clients state a type for the empty body of every request. */
export const dropTypeOfNothing: onRequestHookHandler = ({ raw: { headers } }, _, done) => {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) delete headers['content-type'];
  done();
};
