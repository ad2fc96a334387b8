import {
  type Caller,
  hasOpenLog,
  type NounScope,
  requireScope,
  type ServiceCall,
} from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ChangePage, ChangeStream, ChangesRequest } from '../../ground/records/noun-changes.js';
import type { NounModel } from '../definition/model.js';
import type { NounListRequest, NounPage } from './noun-list.js';
import type { NounStore } from './noun-store.js';
import type { NounRow } from './row.js';

/** The reads of a noun: the records of the caller's project. For the caller, records of other projects do not exist. */
export class NounReads {
  private readonly readScope: NounScope;

  constructor(
    protected readonly model: NounModel,
    protected readonly store: NounStore,
    protected readonly now: () => number,
  ) {
    this.readScope = `${model.description.plural}:read`;
  }

  /** A page: one query, of one range of an index also for late pages. Throws `AppError forbidden`. */
  async list({ caller }: ServiceCall, wanted: NounListRequest): Promise<NounPage> {
    requireScope(caller, this.readScope);
    return this.store.page(caller.projectId, { ...wanted, isFollowed: this.isFollowed(caller) });
  }

  /** As `list`, for several lists with one query. */
  async lists({ caller }: ServiceCall, wanted: readonly NounListRequest[]): Promise<NounPage[]> {
    requireScope(caller, this.readScope);
    return this.store.pages(caller.projectId, wanted);
  }

  /** The next changes. Throws `AppError forbidden`, and what `NounChanges.page` throws. */
  async changes({ caller }: ServiceCall, wanted: ChangesRequest<NounRow>): Promise<ChangePage<NounRow>> {
    requireScope(caller, this.readScope);
    return this.store.changes.page(caller, wanted);
  }

  /** A live stream of changes. Throws as `changes`. */
  async followChanges(
    { caller }: ServiceCall,
    wanted: ChangesRequest<NounRow>,
  ): Promise<ChangeStream<NounRow>> {
    requireScope(caller, this.readScope);
    return this.store.changes.follow(caller, wanted);
  }

  /** How many records the list has, up to its page size. Throws `AppError forbidden`. */
  async count({ caller }: ServiceCall, wanted: NounListRequest): Promise<number> {
    requireScope(caller, this.readScope);
    return this.store.count(caller.projectId, wanted);
  }

  /** Throws `AppError forbidden`, `not_found`. */
  async get({ caller }: ServiceCall, id: bigint): Promise<NounRow> {
    requireScope(caller, this.readScope);
    return (await this.store.find(caller.projectId, id)) ?? this.refuseUnknown(id);
  }

  /** As `get`, for several records with one query; unknown ids are left out. */
  async getAll({ caller }: ServiceCall, ids: readonly bigint[]): Promise<Map<bigint, NounRow>> {
    requireScope(caller, this.readScope);
    const found = await this.store.findAll(caller.projectId, ids);
    return new Map(found.map((row) => [row.id, row]));
  }

  /** Whether the caller sees a record in an answer. */
  mayRead({ caller }: ServiceCall): boolean {
    return caller.scopes.has(this.readScope);
  }

  /** Throws `AppError forbidden` unless the caller may read. */
  requireReader({ caller }: ServiceCall): void {
    requireScope(caller, this.readScope);
  }

  refuseUnknown(id: bigint): never {
    throw new AppError('not_found', `There is no ${this.model.description.singular} ${id}.`);
  }

  private isFollowed(caller: Caller): boolean {
    return this.model.description.hasChanges === true && hasOpenLog(caller, this.now());
  }
}
