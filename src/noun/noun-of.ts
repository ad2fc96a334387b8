import type { RestDocument } from '../doors/rest/rest-document.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import { AppError, invalidField } from '../ground/kernel/errors.js';
import type { RecordRules } from '../ground/kernel/record-rules.js';
import type { Beside } from '../ground/records/record-table.js';
import type { OwnNames } from '../request/http/headers.js';
import type { NounModel } from './definition/model.js';
import type { Relation } from './definition/relations.js';
import type { Noun, NounContract, NounDoors, OpenNoun } from './noun.js';
import { Decisions } from './records/decisions.js';
import { NounService } from './records/noun.service.js';
import { entityOf } from './records/noun-entity.js';
import { NounStore } from './records/noun-store.js';
import type { NounTable } from './records/noun-table.js';
import type { NounRow } from './records/row.js';
import { inputRulesOf, rulesOf } from './records/schemas.js';
import { ShownService } from './records/shown.service.js';
import type { TrashService } from './tables/trash.service.js';

/** The parts of a defined noun. */
export interface Defined {
  readonly model: NounModel;
  readonly table: NounTable;
  /** The class of its rows, by which TypeORM finds its table. */
  readonly entity: new () => object;
  readonly demo: readonly object[];
  /** Loads its resolvers and documents, once: decorators register each type of GraphQL by its name. D-264. */
  loadDoors(): Promise<LoadedDoors>;
}

export interface NounServices {
  readonly service: NounService;
  /** Null = a deletion is for good. */
  readonly trash: TrashService | null;
}

/** The further tables of a noun, with their classes: few nouns load them. */
export async function furtherTablesOf({ model, table }: Pick<Defined, 'model' | 'table'>) {
  return {
    trashed: model.hasTrash ? await trashOf(model, table) : null,
    committed: model.afterCommit ? await afterCommitOf(model) : null,
    having: table.entries.length > 0 ? await entriesOf(model, table) : [],
  };
}

async function trashOf(model: NounModel, table: NounTable) {
  const { NounTrash, trashTableOf } = await import('./tables/noun-trash.js');
  const { TrashService } = await import('./tables/trash.service.js');
  return { NounTrash, TrashService, table: trashTableOf(model, table) };
}

async function afterCommitOf(model: NounModel) {
  const { AfterCommit, afterCommitTableOf } = await import('./tables/after-commit.js');
  return { AfterCommit, table: afterCommitTableOf(model) };
}

async function entriesOf(model: NounModel, { entries }: NounTable) {
  const { NounEntries, entriesEntityOf } = await import('./tables/noun-entries.js');
  return entries.map((each) => {
    const { Row, schema } = entriesEntityOf(model, each);
    return { table: { schema, definition: each.table }, beside: new NounEntries(Row, each) };
  });
}

type FurtherTables = Awaited<ReturnType<typeof furtherTablesOf>>;

interface LoadedDoors {
  /** The classes of its resolvers. */
  readonly resolvers: NounContract['resolvers'];
  open(services: NounServices, now: () => number): NounDoors;
  rest(names: OwnNames, relations?: readonly Relation[]): Promise<RestDocument>;
}

/** The noun of a definition, with its parts loaded. */
export function nounOf(
  { model, table, entity, demo, loadDoors }: Defined,
  migrations: DatabaseSchema['migrations'],
  { trashed, committed, having }: FurtherTables = { trashed: null, committed: null, having: [] },
): Noun {
  const { description } = model;
  const Row = entity as unknown as new () => NounRow;
  const rules = rulesOf(model);
  // Their defaults and examples are checked too.
  for (const action of model.actions) inputRulesOf(model, action);
  const demoRecords = demo.map((record, at) => checkedDemo(record, at, description.singular, rules));
  const texts = Object.fromEntries(
    model.fields.flatMap(({ name, kind: { json, toJson } }) =>
      toJson && (json === 'boolean' || json === 'text')
        ? [[name, (column: string) => String(toJson(column))]]
        : [],
    ),
  );
  const hasConflicts = model.uniques.length > 0 || model.fields.some(({ kind }) => kind.reference?.mustExist);
  const further = [trashed, committed, ...having].flatMap((each) => (each ? [each.table] : []));
  return {
    description,
    entities: [entityOf(model, table, Row), ...further.map(({ schema }) => schema)],
    migrations,
    definitions: [table.table, ...further.map(({ definition }) => definition)],
    open({ db, ids, idempotency, versions, changes, now }): OpenNoun {
      const trash = trashed && new trashed.NounTrash(model, trashed.table.Row, db, now);
      const besides: Beside<NounRow>[] = [...(trash ? [trash] : []), ...having.map(({ beside }) => beside)];
      const store = new NounStore(model, Row, db, versions, changes, besides);
      const decisions = model.actions.length > 0 || model.beforeWrite ? new Decisions(model) : null;
      const hasOwnAnswers =
        model.computed.length > 0 || model.fields.some(({ options }) => options.readScope !== undefined);
      const Service = hasOwnAnswers ? ShownService : NounService;
      const service = new Service(model, store, ids, idempotency, now, decisions);
      const trashService =
        trashed && trash && new trashed.TrashService(model, store, trash, service, idempotency);
      return {
        service,
        capabilities: [
          ...(trash ? [trash] : []),
          ...(committed
            ? [new committed.AfterCommit(model, committed.table.Row, db, changes.log, store.changes)]
            : []),
        ],
        related: {
          model,
          entity: Row,
          references: store.references,
          changes: store.changes,
          versions,
          besides,
        },
        files: {
          description,
          entity: Row,
          parse(input) {
            const record = rules.parse(input);
            return decisions ? refusingRow(() => decisions.ofCreation(record, now())) : record;
          },
          ...(Object.keys(texts).length > 0 && { texts }),
          ...(having.length > 0 && { besides: having.map(({ beside }) => beside) as never }),
          ...(hasConflicts && {
            conflicts: (projectId, records) => store.conflicts(projectId, records as NounRow[]),
            preparationOf: (projectId, records) =>
              store.references.preparationOf(projectId, { created: records as NounRow[], nameOf: undefined }),
          }),
        },
        async seedDemo(call) {
          for (const record of demoRecords) await service.create(call, record);
        },
        openDoors: async () => (await loadDoors()).open({ service, trash: trashService }, now),
      };
    },
    async contract() {
      const doors = await loadDoors();
      return { resolvers: doors.resolvers, rest: doors.rest };
    },
  };
}

/** Before the demo project is made: a second start would find it, and make no other. Throws an `Error` that names the record. */
function checkedDemo(record: object, at: number, singular: string, rules: RecordRules<NounRow>) {
  try {
    return rules.parse(record);
  } catch (error) {
    throw new Error(`The noun ${singular}: in record ${at + 1} of demo, ${(error as Error).message}`);
  }
}

/** A file refuses the row, and names the problem of the record as its own. */
function refusingRow<T>(decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') throw invalidField('row', error.message);
    throw error;
  }
}
