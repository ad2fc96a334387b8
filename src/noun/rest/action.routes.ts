import type { FastifyInstance } from 'fastify';
import { nameIgnored } from '../../doors/rest/rest.hooks.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import type { NounModel } from '../definition/model.js';
import type { NounService } from '../records/noun.service.js';
import type { NounRow } from '../records/row.js';
import { inputRulesOf, schemasOf } from '../records/schemas.js';
import { dropTypeOfNothing, recordTags } from './record.routes.js';

/** The routes of a noun's actions: `POST /v1/books/{bookId}/lend`. */
export function addActionRoutes(
  app: FastifyInstance,
  model: NounModel,
  service: NounService,
  present: (row: NounRow) => Record<string, unknown>,
): void {
  if (model.actions.length === 0) return;
  const { singular, plural } = model.description;
  const { record } = schemasOf(model);
  const { tagOf, expectation } = recordTags(model, present);
  const names = model.fields.map(({ name }) => name);
  for (const action of model.actions) {
    const path = `/${plural}/:id/${action.name}`;
    const rules = inputRulesOf(model, action);
    const acting = {
      schema: { response: { 200: record, 204: { type: 'null' } as const } },
      config: { operationId: action.operation },
      onRequest: dropTypeOfNothing,
    };
    app.post(path, acting, async (request, reply) => {
      const input = rules.parse(request.body ?? {});
      const call = serviceCallOf(request, reply);
      const id = parseRecordId((request.params as { id: string }).id, singular);
      const isShown = service.mayRead(call);
      const answered = isShown ? names : [];
      const row = await service.act(call, action, { id, input }, answered, expectation(request, reply));
      nameIgnored(reply);
      if (!isShown) return reply.code(204).send();
      reply.header('etag', tagOf(row, reply));
      return present(row);
    });
    restrictMethods(app, path, ['POST']);
  }
}
