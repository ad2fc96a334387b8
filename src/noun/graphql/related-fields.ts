import type { GraphQLFieldConfigArgumentMap, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { Batch } from '../../doors/graphql/execution/batch.js';
import { serviceCallOf } from '../../doors/graphql/execution/context.js';
import type { NestedField } from '../../doors/graphql/execution/nested-fields.js';
import { capitalized } from '../../noun-words.js';
import type { NounModel } from '../definition/model.js';
import type { Relation } from '../definition/relations.js';
import type { NounService } from '../records/noun.service.js';
import type { NounListRequest } from '../records/noun-list.js';
import type { nounArguments } from './noun.arguments.js';
import type { NounTypes } from './noun.types.js';

/** The parts of a noun that fields of other types need. */
export interface NestedRecords extends Pick<ReturnType<typeof nounArguments>, 'listOf'> {
  readonly model: NounModel;
  readonly service: NounService;
  readonly presentPage: NounTypes['presentPage'];
}

type Parent = Readonly<Record<string, string | null>>;

/**
 * Both fields of each reference: the record beside its identifier, and the connection of the other noun. For a page of any
 * size, each level of a query is one statement. D-274.
 */
export function relatedFields(
  relations: readonly Relation[],
  nested: ReadonlyMap<string, NestedRecords>,
): NestedField[] {
  return relations.flatMap((relation) => {
    const { from, to, reference } = relation;
    const [source, target] = [nested.get(from.plural), nested.get(to.plural)];
    if (!source || !target) return [];
    const record = recordField(relation, target);
    return reference.list === null ? [record] : [record, listField(relation, reference.list, source)];
  });
}

function recordField({ from, field, reference, to }: Relation, target: NestedRecords): NestedField {
  const { model, service, presentPage } = target;
  const batch = new Batch<string, unknown>(async (context, texts) => {
    const ids = texts.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
    const wanted: NounListRequest = {
      wholeValues: model.wholeFilters.map(() => null),
      ...{ start: null, sort: null, ids, orderBy: 'OLDEST', pageSize: ids.length, after: null },
    };
    const [page] = await service.lists(serviceCallOf(context), [wanted]);
    const found = new Map(page && presentPage(page, wanted).nodes.map((node) => [node.id, node]));
    return texts.map((id) => found.get(id) ?? null);
  });
  const article = to.singular === from.singular ? 'other ' : '';
  return {
    type: from.type,
    name: reference.as,
    source: service,
    config: (schema) => ({
      type: schema.getType(to.type) as GraphQLObjectType,
      description: `The ${article}${to.singular} of \`${field.name}\`; null if none is set, or if there is none in the project. Without the scope \`${to.plural}:read\` the operation is refused.`,
      resolve(parent: Parent, _, context) {
        const id = parent[field.name];
        return id == null ? null : batch.join(context, id);
      },
    }),
  };
}

function listField(
  { from, field, to }: Relation,
  name: string,
  { service, listOf, presentPage }: NestedRecords,
): NestedField {
  // Each key has the arguments too, so that a statement also serves aliases with others.
  const batch = new Batch<string, unknown>(async (context, keys) => {
    const wanted = keys.map((key) => listOf(JSON.parse(key)));
    const pages = await service.lists(serviceCallOf(context), wanted);
    return pages.map((page, at) => presentPage(page, wanted[at] as NounListRequest));
  });
  return {
    type: to.type,
    name,
    source: service,
    config: (schema) => ({
      type: schema.getType(`${from.type}Connection`) as GraphQLObjectType,
      args: argumentsOf(schema, from.plural),
      description: `${capitalized(from.plural)} of which \`${field.name}\` is this ${to.singular}, newest first unless \`orderBy\` says otherwise: the list \`${from.plural}(${field.name}: …)\`, with its cursors and without a \`changesCursor\`. Without the scope \`${from.plural}:read\` the operation is refused.`,
      resolve(parent: Parent, args, context) {
        const given = { ...args, [field.name]: parent.id };
        // Its problems are of this field alone.
        listOf(given);
        return batch.join(context, JSON.stringify(given));
      },
    }),
  };
}

/** The arguments of the list for pages and order. */
function argumentsOf(schema: GraphQLSchema, plural: string): GraphQLFieldConfigArgumentMap {
  const { args = [] } = schema.getQueryType()?.getFields()[plural] ?? {};
  const wanted = args.filter(({ name }) => ['first', 'after', 'orderBy'].includes(name));
  return Object.fromEntries(
    wanted.map(({ name, type, description, defaultValue, extensions }) => [
      name,
      {
        type,
        description,
        extensions,
        defaultValue: name === 'orderBy' ? 'NEWEST' : defaultValue,
      },
    ]),
  );
}
