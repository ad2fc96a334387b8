import type { FastifyInstance, FastifyRequest } from 'fastify';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { parseRecordId } from '../../ground/kernel/int64.js';
import { PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { WIDGET } from '../widget.description.js';
import type { Widget, WidgetState } from '../widget.entity.js';
import { WIDGET_RULES } from '../widget.rules.js';
import type { WidgetService } from '../widget.service.js';
import { cursorsOf, type WidgetListRequest } from '../widget-list.js';
import { listQuerySchema, widgetSchema, widgetsSchema } from './widgets.schemas.js';

const problemsOf = validator(listQuerySchema);

/** `baseUrl` returns the address of `/v1` as the client sees it. */
export function widgetsRoutes(
  app: FastifyInstance,
  widgets: WidgetService,
  baseUrl: (request: FastifyRequest) => string,
): void {
  const listUrl = (request: FastifyRequest) => `${baseUrl(request)}/widgets`;

  app.get<{ Querystring: Record<string, unknown> }>(
    '/widgets',
    {
      schema: { response: { 200: widgetsSchema } },
      config: { operationId: 'listWidgets', dataOf: WIDGET.plural },
    },
    async (request, reply) => {
      const wanted = parseListQuery(request.query);
      const page = await widgets.list(serviceCallOf(request, reply), wanted);
      const last = page.hasNextPage ? page.widgets.at(-1) : undefined;
      const nextCursor = last ? cursorsOf(wanted).encode(last) : null;
      linkPages(request, reply, { url: listUrl(request), query: queryOf(wanted), nextCursor });
      nameIgnored(reply, Object.keys(listQuerySchema.properties));
      return page.widgets.map(present);
    },
  );

  const creating = { schema: { response: { 201: widgetSchema } }, config: { operationId: 'createWidget' } };
  app.post('/widgets', creating, async (request, reply) => {
    const widget = await widgets.create(serviceCallOf(request, reply), WIDGET_RULES.parse(request.body));
    nameIgnored(reply);
    return reply
      .code(201)
      .header('location', `${listUrl(request)}/${widget.id}`)
      .send(present(widget));
  });

  app.get<{ Params: { widgetId: string } }>(
    '/widgets/:widgetId',
    { schema: { response: { 200: widgetSchema } }, config: { operationId: 'getWidget' } },
    async (request, reply) => {
      const id = parseRecordId(request.params.widgetId, WIDGET.singular);
      const widget = await widgets.get(serviceCallOf(request, reply), id);
      nameIgnored(reply);
      return present(widget);
    },
  );

  restrictMethods(app, '/widgets', ['GET', 'POST']);
  restrictMethods(app, '/widgets/:widgetId', ['GET']);
}

/** Throws `AppError invalid_request` for a parameter that is repeated, out of range or otherwise invalid. */
function parseListQuery(query: Record<string, unknown>): WidgetListRequest {
  const { limit, state, order = 'oldest', cursor } = query;
  const problems = problemsOf({ limit: wholeNumber(limit), state, order, cursor });
  const orderBy = order === 'newest' ? ('NEWEST' as const) : ('OLDEST' as const);
  const list = { state: (state as WidgetState) ?? null, orderBy };
  const after = typeof cursor === 'string' ? cursorsOf(list).decode(cursor) : null;
  if (cursor !== undefined && after === null && !problems.some(({ field }) => field === 'cursor')) {
    problems.push({ field: 'cursor', message: got(listQuerySchema.properties.cursor.rule, cursor) });
  }
  if (problems.length > 0) throw invalidRequest(problems);
  const pageSize = limit === undefined ? PAGE_SIZE.default : Number(limit);
  return { ...list, pageSize, afterId: after?.id ?? null };
}

function queryOf({ pageSize, state, orderBy }: WidgetListRequest): string {
  const filter = state ? { state } : {};
  const order = orderBy === 'NEWEST' ? { order: 'newest' } : {};
  return new URLSearchParams({ limit: String(pageSize), ...filter, ...order }).toString();
}

/** A field that is not stated is left out. */
function present({ projectId: _, createdAtMs: __, ...widget }: Widget): object {
  return Object.fromEntries(Object.entries(widget).filter(([, value]) => value !== null));
}
