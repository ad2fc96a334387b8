import type { AddRoutes } from '../doors/rest/rest.door.js';
import type { RestDocument } from '../doors/rest/rest-document.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { FieldProblem } from '../ground/kernel/errors.js';
import type { OwnNames } from '../request/http/headers.js';
import { type ActionMaker, type DefinedAction, withActions } from './definition/action.js';
import { type ComputedMaker, type DefinedComputed, withComputed } from './definition/computed.js';
import { type AfterCommitHook, type BeforeWrite, withAfterCommit, withHook } from './definition/hook.js';
import { modelOf, type NounModel, type NounWords } from './definition/model.js';
import type { Field, Fields, ValuesOf } from './kinds/kind.js';
import type { NounSource } from './noun.js';
import type { Defined, NounServices } from './noun-of.js';
import type { NounService } from './records/noun.service.js';
import { tableOf } from './records/noun-table.js';
import type { NounRow } from './records/row.js';
import type { TrashService } from './tables/trash.service.js';

type InputOf<F> = F extends Field<unknown, infer Input> ? Input : never;
type OptionalNames<F extends Fields> = {
  [Name in keyof F]: undefined extends InputOf<F[Name]> ? Name : never;
}[keyof F];
type RowOf<F extends Fields> = { id: bigint; projectId: bigint; createdAtMs: number } & ValuesOf<F>;
type NewOf<F extends Fields> = { [Name in Exclude<keyof F, OptionalNames<F>>]: InputOf<F[Name]> } & {
  [Name in OptionalNames<F>]?: InputOf<F[Name]>;
};

/** The record of a noun, as services have it. */
export type RecordOf<N> = N extends DefinedNoun<infer F> ? RowOf<F> : never;

/** A new record of a noun. */
export type NewRecordOf<N> = N extends DefinedNoun<infer F> ? NewOf<F> : never;

interface NounDefinition<F extends Fields> extends NounWords {
  readonly fields: F;
  /** The problems across the fields of a record, whose fields are valid. */
  readonly check?: (record: ValuesOf<F>) => FieldProblem[];
  /**
   * The operations of clients on one record, by name, apart from the change of its fields:
   * `(action) => ({ deliver: action({ input: { at: dateTime() }, run: (shipment, { at }) => ({ deliveredAt: at }) }) })`.
   */
  readonly actions?: (action: ActionMaker<RowOf<F>, ValuesOf<F>>) => Readonly<Record<string, DefinedAction>>;
  /**
   * Fields of both APIs that no client states, and that are not stored: each answer computes them.
   * `(computed) => ({ isLate: computed(boolean(), (shipment, { now }) => shipment.dueAt < now) })`.
   */
  readonly computed?: (
    computed: ComputedMaker<Omit<RowOf<F>, 'projectId'>>,
  ) => Readonly<Record<string, DefinedComputed>>;
  /** Sees each write before it is stored: through both APIs, by actions and of imports. */
  readonly beforeWrite?: BeforeWrite<RowOf<F>, ValuesOf<F>>;
  /** Sees each stored change of the projects whose change log is on, at least once. It may be async. */
  readonly afterCommit?: AfterCommitHook<RowOf<F>>;
  /** Loads the migrations of its table, oldest first, if the gateway does not list them. */
  readonly migrations?: () => Promise<DatabaseSchema['migrations']>;
  /** Created in the demo project. */
  readonly demo?: readonly NewOf<F>[];
  /** Reading one record by its id: `own` = the own part does it, false = nothing does. */
  readonly get?: 'own' | false;
  /** Loads what it has beside that which follows from its fields. */
  readonly own?: () => Promise<OwnParts>;
}

export interface OwnParts {
  /** An own resolver and own routes. Called once in a process: decorators register types by their names. */
  doors?(parts: NounParts): OwnDoors;
  /** Replaces words and examples of the OpenAPI document, and adds own operations. */
  document?(usual: RestDocument, model: NounModel, names: OwnNames): RestDocument;
}

export interface OwnDoors {
  readonly Resolver: new (...parts: never[]) => object;
  open(service: NounService, now: () => number): { readonly resolver: object; readonly routes: AddRoutes };
}

/** The parts that the fields define, for own parts beside them. */
export interface NounParts {
  readonly model: NounModel;
  /** The type of a record in GraphQL. */
  readonly RecordType: new () => object;
  /** A record as GraphQL has it. */
  present(row: NounRow): object;
}

export interface DefinedNoun<F extends Fields = Fields> extends NounSource, Defined {
  readonly get: NounDefinition<F>['get'];
  readonly entity: new () => RowOf<F>;
}

const OPTIONS: Readonly<Record<keyof NounDefinition<Fields>, true>> = {
  name: true,
  plural: true,
  type: true,
  withArticle: true,
  icon: true,
  headline: true,
  examples: true,
  inputExamples: true,
  count: true,
  changes: true,
  softDelete: true,
  fields: true,
  check: true,
  actions: true,
  computed: true,
  beforeWrite: true,
  afterCommit: true,
  migrations: true,
  demo: true,
  get: true,
  own: true,
};

/**
 * A resource of both APIs from one definition: its table, rules, lists, service, GraphQL types, REST routes, files and pages.
 * Loads none of them. Throws an `Error` that names the field and the option that cannot work.
 */
export function defineNoun<const F extends Fields>(definition: NounDefinition<F>): DefinedNoun<F> {
  const {
    fields,
    check,
    actions,
    computed,
    beforeWrite,
    afterCommit,
    migrations,
    demo = [],
    get,
    own,
  } = definition;
  const unknown = Object.keys(definition).find((option) => !Object.hasOwn(OPTIONS, option));
  if (unknown !== undefined)
    throw new Error(
      `The noun ${definition.name}: there is no option ${unknown}, only ${Object.keys(OPTIONS).join(', ')}.`,
    );
  const bare = modelOf(definition, fields, (check as NounModel['checks']) ?? null);
  const acting = actions ? withActions(bare, actions) : bare;
  const writing = beforeWrite ? withHook(acting, beforeWrite) : acting;
  const hooked = afterCommit ? withAfterCommit(writing, afterCommit) : writing;
  const model = computed ? withComputed(hooked, computed) : hooked;
  if (model.hasTrash && get !== undefined)
    throw new Error(`The noun ${model.description.singular}: softDelete needs the usual get. Leave get out.`);
  let loading: ReturnType<Defined['loadDoors']> | undefined;
  const noun: DefinedNoun<F> = {
    description: model.description,
    model,
    table: tableOf(model),
    entity: class {} as new () => RowOf<F>,
    demo,
    get,
    loadDoors() {
      loading ??= loadDoors(model, get, own);
      return loading;
    },
    async load() {
      const { furtherTablesOf, nounOf } = await import('./noun-of.js');
      return nounOf(noun, (await migrations?.()) ?? [], await furtherTablesOf(noun));
    },
  };
  return noun;
}

async function loadDoors(
  model: NounModel,
  get: NounDefinition<Fields>['get'],
  own?: () => Promise<OwnParts>,
): ReturnType<Defined['loadDoors']> {
  const { nounResolver } = await import('./graphql/noun.resolver.js');
  const { nounRoutes } = await import('./rest/noun.routes.js');
  const reads = { hasOne: get === undefined, hasLocation: get !== false };
  const { NounResolver, RecordType, present, nested } = nounResolver(model, reads.hasOne);
  const trashed = model.hasTrash ? await trashDoorsOf(model, RecordType, present) : null;
  const { doors, document } = (await own?.()) ?? {};
  const ownDoors = doors?.({ model, RecordType, present });
  return {
    resolvers: [
      NounResolver,
      ...(trashed ? [trashed.Resolver] : []),
      ...(ownDoors ? [ownDoors.Resolver] : []),
    ],
    open({ service, trash }: NounServices, now: () => number) {
      const opened = [
        { resolver: new NounResolver(service), routes: nounRoutes(model, service, reads) },
        ...(trashed && trash ? [trashed.open(trash)] : []),
        ...(ownDoors ? [ownDoors.open(service, now)] : []),
      ];
      return {
        resolvers: opened.map(({ resolver }) => resolver),
        nested: { ...nested, service },
        routes: (app, baseUrl) => {
          for (const { routes } of opened) routes(app, baseUrl);
        },
      };
    },
    async rest(names, relations): Promise<RestDocument> {
      const { documentOf } = await import('./rest/noun.document.js');
      const usual = documentOf(model, reads, names, relations);
      return document?.(usual, model, names) ?? usual;
    },
  };
}

async function trashDoorsOf(
  model: NounModel,
  RecordType: new () => object,
  present: (row: NounRow) => object,
) {
  const { trashResolver } = await import('./graphql/trash.resolver.js');
  const { trashRoutes } = await import('./rest/trash.routes.js');
  const Resolver = trashResolver(model, RecordType, present);
  const open = (trash: TrashService) => ({
    resolver: new Resolver(trash),
    routes: trashRoutes(model, trash),
  });
  return { Resolver, open };
}
