import type { FastifyRequest } from 'fastify';
import type { AddRoutes } from '../../doors/rest/rest.door.js';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { type FieldProblem, invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { MAX_PAGE_SIZE, type ObjectSchema, PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import { SORT } from '../definition/lists.js';
import type { NounModel } from '../definition/model.js';
import { sortOf } from '../records/list-sort.js';
import type { NounService } from '../records/noun.service.js';
import { NounCursors } from '../records/noun-cursors.js';
import {
  entryProblems,
  filterValueOf,
  type ListedRow,
  matchesAll,
  type NounList,
} from '../records/noun-list.js';
import type { NounRow } from '../records/row.js';
import { rulesOf, schemasOf } from '../records/schemas.js';
import { addActionRoutes } from './action.routes.js';
import { addRecordRoutes } from './record.routes.js';

type Query = Readonly<Record<string, unknown>>;

export interface RecordReads {
  /** Both APIs read, change and delete one record in the usual way. */
  readonly hasOne: boolean;
  /** A record has an address in REST. */
  readonly hasLocation: boolean;
}

/** The routes of a noun: its list and its creation, and if it has them, those of one record and the changes. */
export function nounRoutes(
  model: NounModel,
  service: NounService,
  { hasOne, hasLocation }: RecordReads,
): AddRoutes {
  const { singular, plural, hasChanges, computed, type } = model.description;
  const schemas = schemasOf(model);
  const rules = rulesOf(model);
  const present = presenter(model);
  const listQuery = queryReader(model, schemas.listQuery);
  const changesQuery = queryReader(model, schemas.changesQuery);

  return (app, baseUrl) => {
    const path = `/${plural}`;
    const { changesCursor } = app.names;
    const listUrl = (request: FastifyRequest) => `${baseUrl(request)}${path}`;

    app.get<{ Querystring: Query }>(
      path,
      {
        schema: { response: { 200: schemas.records } },
        config: { operationId: `list${model.page}`, ...(!computed && { dataOf: plural }) },
      },
      async (request, reply) => {
        const { pageSize, list, query, problems } = listQuery(request.query, PAGE_SIZE.default);
        problems.push(...entryProblems(model, list));
        const { cursor } = request.query;
        const after = cursor === undefined ? undefined : new NounCursors(model, list).decode(String(cursor));
        const { rule = '' } = schemas.listQuery.properties.cursor ?? {};
        if (after === null) problems.push({ field: 'cursor', message: got(rule, cursor) });
        if (problems.length > 0) throw invalidRequest(problems);
        const wanted = { ...list, pageSize, after: after ?? null };
        const page = await service.list(serviceCallOf(request, reply), wanted);
        const last = page.hasNextPage ? page.rows.at(-1) : undefined;
        linkPages(request, reply, {
          url: listUrl(request),
          query,
          nextCursor: last ? new NounCursors(model, wanted).of(last) : null,
        });
        nameIgnored(reply, Object.keys(schemas.listQuery.properties));
        if (page.changesCursor !== null) reply.header(changesCursor, page.changesCursor);
        return page.rows.map(present);
      },
    );

    const creating = {
      schema: { response: { 201: schemas.record } },
      config: { operationId: `create${type}` },
    };
    app.post(path, creating, async (request, reply) => {
      const wanted = rules.parse(request.body);
      // Nothing else of the body stays in memory while the statement waits.
      request.body = undefined;
      request.bodyShare?.set(0);
      const row = await service.create(serviceCallOf(request, reply), wanted);
      nameIgnored(reply);
      if (hasLocation) reply.header('location', `${listUrl(request)}/${row.id}`);
      return reply.code(201).send(present(row));
    });
    restrictMethods(app, path, ['GET', 'POST']);

    if (hasChanges) {
      const following = {
        schema: { response: { 200: schemas.changes } },
        config: { operationId: `list${type}Changes` },
      };
      app.get<{ Querystring: Query }>(`${path}/changes`, following, async (request, reply) => {
        const { pageSize, list, query, problems } = changesQuery(request.query, MAX_PAGE_SIZE);
        if (problems.length > 0) throw invalidRequest(problems);
        const { cursor } = request.query;
        const after = cursor === undefined ? null : String(cursor);
        const matches = matchesAll(model, list.wholeValues);
        const page = await service.changes(serviceCallOf(request, reply), {
          after,
          field: 'cursor',
          pageSize,
          matches,
        });
        // Always a next page: the next changes will be there.
        linkPages(request, reply, { url: `${listUrl(request)}/changes`, query, nextCursor: page.endCursor });
        nameIgnored(reply, Object.keys(schemas.changesQuery.properties));
        return page.changes.map(({ cursor, kind, atMs, record }) => {
          return { cursor, kind, at: new Date(atMs).toISOString(), [singular]: present(record) };
        });
      });
      restrictMethods(app, `${path}/changes`, ['GET']);
    }

    if (hasOne) addRecordRoutes(app, model, service, present);
    addActionRoutes(app, model, service, present);
  };
}

/** The record as JSON. An unset value is left out: SPEC's fields are optional, not nullable. */
export function presenter({ shown }: NounModel): (row: NounRow | ListedRow) => Record<string, unknown> {
  return (row) => {
    const record: Record<string, unknown> = { id: BigInt(row.id) };
    for (const field of shown) {
      const value = row[field.name];
      if (value !== null) record[field.name] = field.kind.toJson?.(value) ?? value;
    }
    return record;
  };
}

interface ReadQuery {
  pageSize: number;
  list: NounList;
  /** The page size, the filters and the order, for links. */
  query: string;
  /** Of values that are repeated, out of range or otherwise invalid. */
  problems: FieldProblem[];
}

/** Reads the query parameters but for the cursor. Unknown ones are ignored. */
function queryReader(model: NounModel, { properties }: ObjectSchema) {
  const { wholeFilters, rangeFilters, orders } = model;
  const hasOrders = rangeFilters.length + orders.length > 0;
  const { cursor: _, ...read } = properties;
  const whole = wholeFilters.map(({ argument, field }) => ({ name: argument, kind: field.kind }));
  const bounds = rangeFilters.flatMap(({ field: { kind }, from, before }) => [
    { name: from, kind },
    { name: before, kind },
  ]);
  const filters = [...whole, ...bounds].filter(({ name }) => name in read);
  const problemsOf = validator({ type: 'object', properties: read });
  return (query: Query, usualSize: number): ReadQuery => {
    const { limit } = query;
    const values = Object.fromEntries(
      filters.map(({ name, kind }) => [name, kind.parse?.(query[name]) ?? query[name]]),
    );
    const sort = orders.length > 0 && SORT in read ? query[SORT] : undefined;
    const given = { ...values, ...(sort !== undefined && { [SORT]: sort }) };
    const problems = problemsOf({ limit: wholeNumber(limit), ...given });
    const pageSize = limit === undefined ? usualSize : Number(limit);
    const stated = Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`);
    const wholeValues = whole.map(({ name, kind }) => filterValueOf(kind, values[name], problems));
    const order = orders.find(({ parameter }) => parameter === sort);
    const wanted = { start: null, wholeValues, field: order?.field ?? null, argument: SORT, values };
    return {
      pageSize,
      list: {
        ...{ wholeValues, start: null, sort: hasOrders ? sortOf(model, wanted, problems) : null, ids: null },
        orderBy: order?.isDescending ? 'NEWEST' : 'OLDEST',
      },
      query: `limit=${pageSize}${stated.join('')}`,
      problems,
    };
  };
}
