import type { FastifyRequest } from 'fastify';
import type { AddRoutes } from '../../doors/rest/rest.door.js';
import { linkPages, nameIgnored, wholeNumber } from '../../doors/rest/rest.hooks.js';
import { type FieldProblem, invalidRequest } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { MAX_PAGE_SIZE, type ObjectSchema, PAGE_SIZE, validator } from '../../ground/kernel/validation.js';
import { serviceCallOf } from '../../request/admission/admission.js';
import { restrictMethods } from '../../request/http/unrouted.js';
import type { NounModel } from '../definition/model.js';
import type { NounService } from '../records/noun.service.js';
import {
  type FilterValue,
  filterValueOf,
  type ListedRow,
  matchesAll,
  NounCursors,
  oldestFirst,
} from '../records/noun-list.js';
import type { NounRow } from '../records/row.js';
import { rulesOf, schemasOf } from '../records/schemas.js';
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
  const { singular, plural, hasChanges, type } = model.description;
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
        config: { operationId: `list${model.page}`, dataOf: plural },
      },
      async (request, reply) => {
        const { pageSize, wholeValues, query, problems } = listQuery(request.query, PAGE_SIZE.default);
        const list = oldestFirst(wholeValues);
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
          nextCursor: last ? new NounCursors(model, wanted).encode({ id: last.id }) : null,
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
        const { pageSize, wholeValues, query, problems } = changesQuery(request.query, MAX_PAGE_SIZE);
        if (problems.length > 0) throw invalidRequest(problems);
        const { cursor } = request.query;
        const after = cursor === undefined ? null : String(cursor);
        const matches = matchesAll(model, wholeValues);
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
  };
}

/** The record as JSON. An unset value is left out: SPEC's fields are optional, not nullable. */
export function presenter({ readable }: NounModel): (row: NounRow | ListedRow) => Record<string, unknown> {
  return (row) => {
    const record: Record<string, unknown> = { id: BigInt(row.id) };
    for (const field of readable) {
      const value = row[field.name];
      if (value !== null) record[field.name] = field.kind.toJson?.(value) ?? value;
    }
    return record;
  };
}

interface ReadQuery {
  pageSize: number;
  wholeValues: (FilterValue | null)[];
  /** The page size and the filters, for links. */
  query: string;
  /** Of values that are repeated, out of range or otherwise invalid. */
  problems: FieldProblem[];
}

/** Reads the query parameters but for the cursor. Unknown ones are ignored. */
function queryReader({ wholeFilters }: NounModel, { properties }: ObjectSchema) {
  const { cursor: _, ...read } = properties;
  const problemsOf = validator({ type: 'object', properties: read });
  return (query: Query, usualSize: number): ReadQuery => {
    const { limit } = query;
    const given = wholeFilters.map(({ field: { name, kind } }) => ({
      name,
      kind,
      value: kind.parse?.(query[name]) ?? query[name],
    }));
    const problems = problemsOf({
      limit: wholeNumber(limit),
      ...Object.fromEntries(given.map(({ name, value }) => [name, value])),
    });
    const pageSize = limit === undefined ? usualSize : Number(limit);
    const filters = given
      .filter(({ value }) => value !== undefined)
      .map(({ name, value }) => `&${name}=${encodeURIComponent(String(value))}`);
    return {
      pageSize,
      wholeValues: given.map(({ kind, value }) => filterValueOf(kind, value, problems)),
      query: `limit=${pageSize}${filters.join('')}`,
      problems,
    };
  };
}
