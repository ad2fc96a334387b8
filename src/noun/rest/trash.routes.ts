import type { AddRoutes } from '../../doors/rest/rest.door.js';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import type { NounModel } from '../definition/model.js';
import { deletedCursors, RESTORABLE_DAYS } from '../tables/noun-trash.js';
import type { TrashService } from '../tables/trash.service.js';
import { presenter } from './noun.routes.js';
import { dropTypeOfNothing } from './record.routes.js';
import { trashSchemasOf } from './trash.document.js';

/** The routes of the deleted records: their list, and the restoration of one. */
export function trashRoutes(model: NounModel, trash: TrashService): AddRoutes {
  const { page } = model;
  const { singular, plural, type } = model.description;
  const { restorables, query, record } = trashSchemasOf(model);
  const { cursor: cursorSchema, ...read } = query.properties;
  const problemsOf = validator({ type: 'object', properties: read });
  const cursors = deletedCursors(model);
  const present = presenter(model);
  const fields = model.shown.map(({ name }) => name);
  const inUtc = (timeMs: number) => new Date(timeMs).toISOString();

  return (app, baseUrl) => {
    const path = `/${plural}/deleted`;
    const listing = {
      schema: { response: { 200: restorables } },
      config: { operationId: `listDeleted${page}` },
    };
    app.get<{ Querystring: Record<string, unknown> }>(path, listing, async (request, reply) => {
      const { limit, cursor } = request.query;
      const problems = problemsOf({ limit: wholeNumber(limit) });
      const after = cursor === undefined ? undefined : cursors.decode(String(cursor));
      if (after === null) problems.push({ field: 'cursor', message: got(cursorSchema?.rule ?? '', cursor) });
      if (problems.length > 0) throw invalidRequest(problems);
      const pageSize = limit === undefined ? PAGE_SIZE.default : Number(limit);
      const found = await trash.list(serviceCallOf(request, reply), { pageSize, after: after ?? null });
      const last = found.hasNextPage ? found.rows.at(-1) : undefined;
      linkPages(request, reply, {
        url: `${baseUrl(request)}${path}`,
        query: `limit=${pageSize}`,
        nextCursor: last ? cursors.encode({ id: last.id, text: last.deletedAtMs }) : null,
      });
      nameIgnored(reply, Object.keys(query.properties));
      return found.rows.map((row) => {
        const deletedAtMs = Number(row.deletedAtMs);
        return {
          deletedAt: inUtc(deletedAtMs),
          restorableUntil: inUtc(deletedAtMs + RESTORABLE_DAYS * DAY_MS),
          [singular]: present(row),
        };
      });
    });
    restrictMethods(app, path, ['GET']);

    const restoring = {
      schema: { response: { 200: record } },
      config: { operationId: `restore${type}` },
      onRequest: dropTypeOfNothing,
    };
    app.post<{ Params: { id: string } }>(`/${plural}/:id/restore`, restoring, async (request, reply) => {
      const id = parseRecordId(request.params.id, singular);
      const row = await trash.restore(serviceCallOf(request, reply), id, fields);
      nameIgnored(reply);
      return present(row);
    });
    restrictMethods(app, `/${plural}/:id/restore`, ['POST']);
  };
}
