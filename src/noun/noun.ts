import type { AddRoutes } from '../doors/rest/rest.door.js';
import type { RestDocument } from '../doors/rest/rest-document.js';
import type { DatabaseSchema } from '../ground/database/data-source.js';
import type { Database } from '../ground/database/database.js';
import type { ServiceCall } from '../ground/kernel/caller.js';
import type { Capability } from '../ground/kernel/capability.js';
import type { DataVersions } from '../ground/kernel/data-versions.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import type { ChangeFeeds } from '../ground/records/change-feed.js';
import type { NounDescription } from '../nouns.js';
import type { OwnNames } from '../request/http/headers.js';
import type { NounFiles } from '../tenants/files/noun-files.js';
import type { IdempotencyService } from '../tenants/idempotency/idempotency.service.js';
import type { Relation } from './definition/relations.js';
import type { NestedRecords } from './graphql/related-fields.js';
import type { Related } from './records/references.js';

/**
 * The seam between the platform and a noun: everything that the gateway asks of what it serves. `defineNoun` makes one; a
 * noun with its own tables and services implements it. D-228.
 */
export interface Noun extends DatabaseSchema {
  readonly description: NounDescription;
  /** Makes its service. Called once in a process, also by the command line, so it loads no door. */
  open(platform: Platform): OpenNoun;
  /** Loads what the contract in `schema/` is printed from. */
  contract(): Promise<NounContract>;
}

/** A noun as a gateway names it: its words at once, and all else when it is needed, because that loads TypeORM. */
export interface NounSource {
  readonly description: NounDescription;
  load(): Promise<Noun>;
}

/** The parts that the platform gives a noun. */
interface Platform {
  readonly db: Database;
  readonly ids: IdGenerator;
  readonly idempotency: IdempotencyService;
  /** Announces every write of its data to the response caches of all processes. */
  readonly versions: DataVersions;
  /** The change logs, which every write of its table joins. */
  readonly changes: ChangeFeeds;
  readonly now: () => number;
}

export interface OpenNoun {
  /** The service behind both doors. */
  readonly service: object;
  /** Its background work. */
  readonly capabilities?: readonly Capability[];
  /** For references to it and from it; absent = they are not possible. */
  readonly related?: Related;
  /** For the import and the export of the command line. */
  readonly files: NounFiles;
  /** Creates the records of the demo project. */
  seedDemo(call: ServiceCall): Promise<void>;
  /** Loads both doors. */
  openDoors(): Promise<NounDoors>;
}

export interface NounDoors {
  /** Of type-graphql. The plan pays for their queries and mutations. */
  readonly resolvers: readonly object[];
  readonly routes: AddRoutes;
  /** For fields of other nouns. */
  readonly nested?: NestedRecords;
}

export interface NounContract {
  /** The classes of `NounDoors.resolvers`. */
  readonly resolvers: readonly (new (
    ...parts: never[]
  ) => object)[];
  /** `names` and `relations` are those of the gateway. */
  rest(names: OwnNames, relations?: readonly Relation[]): Promise<RestDocument>;
}
