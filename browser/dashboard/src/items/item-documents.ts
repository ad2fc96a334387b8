import type { TypedDocumentNode } from '@apollo/client';
import { parse } from 'graphql';
import {
  answeredFieldsOf,
  capitalized,
  type NounAction,
  type NounDescription,
  type NounField,
  readableFieldsOf,
} from '../../../nouns.js';
import { namesOf } from '../references/reference-names.js';
import { type Item, rootFieldsOf, selectingArgumentsOf } from './item.js';

export interface ItemPage {
  nodes: readonly Item[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

export interface ListPage extends ItemPage {
  /** Behind the newest change that the page shows; null = the change log of the project is off. */
  changesCursor?: string | null;
}

export interface ItemChange {
  kind: 'CREATED' | 'UPDATED' | 'DELETED';
  /** After the change; a deleted one as it was. */
  item: Item;
}

type Variables = Record<string, unknown>;

/** The operations of the dashboard on a noun. Each names the answer of its root field alike for all nouns. */
export interface ItemDocuments {
  list: TypedDocumentNode<{ page: ListPage }, Variables>;
  /** Null = GraphQL has no changes of the noun. */
  changes: TypedDocumentNode<{ change: ItemChange }, Variables> | null;
  /** A page of an export: without the times. */
  exportPage: TypedDocumentNode<{ page: ItemPage }, Variables>;
  /** Null = GraphQL has no count of the noun. */
  count: TypedDocumentNode<{ count: number }, Variables> | null;
  create: TypedDocumentNode<{ saved: Item }, Variables>;
  createMany: TypedDocumentNode<{ added: readonly { id: string }[] }, Variables>;
  update: TypedDocumentNode<{ saved: Item }, Variables>;
  remove: TypedDocumentNode<{ removed: { id: string } }, Variables>;
  /** Null = a deletion is for good. */
  trash: TrashDocuments | null;
}

export interface TrashDocuments {
  deleted: TypedDocumentNode<{ page: DeletedPage }, Variables>;
  restore: TypedDocumentNode<{ restored: Item }, Variables>;
}

interface DeletedPage {
  nodes: readonly { deletedAt: string; restorableUntil: string; item: Item }[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

/** The documents of a noun. Apollo knows documents by identity, so each is made once. */
export function documentsOf(noun: NounDescription): ItemDocuments {
  const documents = DOCUMENTS.get(noun) ?? makeDocuments(noun);
  DOCUMENTS.set(noun, documents);
  return documents;
}

function makeDocuments(noun: NounDescription): ItemDocuments {
  const { type, plural } = noun;
  const root = rootFieldsOf(noun);
  const fields = fieldsOf(noun);
  const selecting = selectingArgumentsOf(noun);
  const declared = selecting.map(({ name, type: of }) => `, $${name}: ${of}`).join('');
  const given = selecting.map(({ name }) => `, ${name}: $${name}`).join('');
  const names = namesOf(noun);
  const count = `query ${type}Count${inBrackets(declared)} { count: ${root.count}${inBrackets(given)} }`;
  const changes = `subscription ${type}Changes($after: String${names.declared}) {
    change: ${root.changes}(after: $after) { kind item: ${noun.singular} { ${fields}${names.selected} createdAt } }
  }`;
  const page = '{ endCursor hasNextPage }';
  const title = capitalized(plural);
  return {
    list: parse(`query ${title}($first: Int!, $after: String, $orderBy: ${type}Order${declared}${names.declared}) {
      page: ${root.list}(first: $first, after: $after, orderBy: $orderBy${given}) {
        nodes { ${fields}${names.selected} createdAt } pageInfo ${page}${noun.hasChanges ? ' changesCursor' : ''}
      }
    }`),
    changes: noun.hasChanges ? parse(changes) : null,
    exportPage: parse(`query Export${title}($first: Int!, $after: String${declared}) {
      page: ${root.list}(first: $first, after: $after, orderBy: OLDEST${given}) {
        nodes { id ${namesIn(readableFieldsOf(noun))} } pageInfo ${page}
      }
    }`),
    count: noun.hasCount ? parse(count) : null,
    create: parse(`mutation Create${type}($input: New${type}!) {
      saved: ${root.create}(input: $input) { ${fields} createdAt }
    }`),
    createMany: parse(`mutation Import${title}($inputs: [New${type}!]!) {
      added: ${root.createMany}(inputs: $inputs) { id }
    }`),
    update: parse(`mutation Update${type}($id: ID!, $input: ${type}Changes!) {
      saved: ${root.update}(id: $id, input: $input) { ${fields} createdAt }
    }`),
    remove: parse(`mutation Delete${type}($id: ID!) { removed: ${root.remove}(id: $id) { id } }`),
    trash: noun.hasTrash
      ? {
          deleted: parse(`query Deleted${title}($after: String) {
            page: ${root.deleted}(first: 20, after: $after) {
              nodes { deletedAt restorableUntil item: ${noun.singular} { ${fields} createdAt } } pageInfo ${page}
            }
          }`),
          restore: parse(`mutation Restore${type}($id: ID!) {
            restored: ${root.restore}(id: $id) { ${fields} createdAt }
          }`),
        }
      : null,
  };
}

function fieldsOf(noun: NounDescription): string {
  return `id ${namesIn(answeredFieldsOf(noun))}`;
}

function namesIn(fields: readonly NounField[]): string {
  return fields.map(({ name }) => name).join(' ');
}

/** Arguments, each after a comma; GraphQL allows no empty brackets. */
function inBrackets(list: string): string {
  return list === '' ? '' : `(${list.slice(2)})`;
}

/** The mutation of an action. Its answer has the name of a saved item's. */
export function actionDocumentOf(noun: NounDescription, action: NounAction) {
  const { type } = noun;
  const operation = capitalized(action.name) + type;
  const [input, given] =
    action.fields.length > 0 ? [`, $input: ${operation}Input!`, ', input: $input'] : ['', ''];
  const document: TypedDocumentNode<{ saved: Item }, Variables> =
    ACTIONS.get(action) ??
    parse(`mutation ${operation}($id: ID!${input}) {
      saved: ${action.name}${type}(id: $id${given}) { ${fieldsOf(noun)} createdAt }
    }`);
  ACTIONS.set(action, document);
  return document;
}

const ACTIONS = new Map<NounAction, TypedDocumentNode<{ saved: Item }, Variables>>();
const DOCUMENTS = new Map<NounDescription, ItemDocuments>();
