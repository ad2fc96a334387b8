import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RestDocument } from './doors/rest/rest-document.js';
import type { DatabaseSchema } from './ground/database/data-source.js';
import type { Database } from './ground/database/database.js';
import type { ServiceCall } from './ground/kernel/caller.js';
import type { DataVersions } from './ground/kernel/data-versions.js';
import type { IdGenerator } from './ground/kernel/ids.js';
import type { ChangeFeeds } from './ground/records/change-feed.js';
import type { NounDescription } from './nouns.js';
import type { NounFiles } from './tenants/files/noun-files.js';
import type { IdempotencyService } from './tenants/idempotency/idempotency.service.js';

/**
 * The seam between the platform and a noun: everything that the gateway asks of what it serves. The platform brings keys,
 * quotas, idempotency, caching, files, domains and the dashboard. `src/app/nouns.ts` lists the nouns. D-228.
 */
export interface Noun extends DatabaseSchema {
  readonly description: NounDescription;
  /** Makes its service. Called once in a process, also by the command line, so it loads no door. */
  open(platform: Platform): OpenNoun;
  /** Loads what the contract in `schema/` is printed from. */
  contract(): Promise<NounContract>;
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

interface OpenNoun {
  /** The service behind both doors. */
  readonly service: object;
  /** For the import and the export of the command line. */
  readonly files: NounFiles;
  /** Creates the records of the demo project. */
  seedDemo(call: ServiceCall): Promise<void>;
  /** Loads both doors. */
  openDoors(): Promise<NounDoors>;
}

export interface NounDoors {
  readonly plural: string;
  /** Of type-graphql. The plan pays for its queries and mutations. */
  readonly resolver: object;
  /** Adds its routes below `/v1`. `baseUrl` returns the address of `/v1` as the client sees it. */
  routes(app: FastifyInstance, baseUrl: (request: FastifyRequest) => string): void;
}

interface NounContract {
  readonly plural: string;
  /** The class of `NounDoors.resolver`. */
  readonly resolver: new (
    ...parts: never[]
  ) => object;
  readonly rest: RestDocument;
}
