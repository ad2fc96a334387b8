import type { EntityManager } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import { isDuplicate } from '../../ground/database/database-errors.js';
import { withDrawnId } from '../../ground/database/drawn-id.js';
import { type Actor, requireScope, type Scopes, type ServiceCall } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { IdGenerator } from '../../ground/kernel/ids.js';
import { Projects1780000000000 } from '../../ground/migrations/1780000000000-projects.js';
import { agreeStreams, switchLog } from '../../ground/records/change-log.js';
import type { ProjectSignals } from '../../ground/records/project-signals.js';
import type { AuditLog } from '../audit/audit-log.js';
import { type IdempotencyService, objectCodec } from '../idempotency/idempotency.service.js';
import type { AgreedPlan } from './plans.js';
import { Project } from './project.entity.js';
import {
  checkImport,
  checkNewProject,
  checkQuotas,
  checkStreams,
  type StatedImport,
} from './project.rules.js';

interface NewProject extends AgreedPlan {
  slug: string;
  /** Null = the slug. */
  name: string | null;
}

interface ProjectChanges extends Partial<AgreedPlan> {
  /** Whether the change log is on. */
  isLogged?: boolean | undefined;
  /** Open streams that were agreed for an Enterprise project. */
  mostStreams?: number | undefined;
}

/** Adapts what depends on the project's plan, in the transaction that changes it. */
export type FollowPlan = (manager: EntityManager, project: Project) => Promise<void>;

export class ProjectService {
  /** The migration makes the tables of keys, idempotency and the audit log too. */
  static readonly schema = { entities: [Project], migrations: [Projects1780000000000] };
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly parts: {
      audit: AuditLog;
      idempotency: IdempotencyService;
      signals: ProjectSignals;
      followPlan: FollowPlan;
      scopes: Scopes;
    },
    private readonly now: () => number,
  ) {}

  /** Throws `AppError invalid_request`, `AppError conflict` for a taken slug. */
  async create(actor: Actor, wanted: NewProject): Promise<Project> {
    const { slug } = wanted;
    const named = { ...wanted, name: wanted.name ?? slug };
    checkNewProject(named);
    const values = { ...named, publishedAtMs: null, createdAtMs: this.now() };
    try {
      return await this.db.transaction(async (manager) => {
        const project = await withDrawnId(this.ids, async (id) => {
          const row = manager.create(Project, { id, ...values });
          await manager.insert(Project, row);
          return row;
        });
        await this.parts.audit.record(manager, actor, {
          action: 'project.create',
          projectId: project.id,
          subject: project.slug,
          detail: { plan: project.plan },
        });
        return project;
      });
    } catch (error) {
      if (isDuplicate(error)) {
        throw new AppError('conflict', `The slug ${slug} is taken. Choose another one.`);
      }
      throw error;
    }
  }

  list(): Promise<Project[]> {
    return this.db.repository(Project).find({ order: { slug: 'ASC' } });
  }

  /** Throws `AppError not_found`. */
  async get(id: bigint): Promise<Project> {
    const project = await this.db.repository(Project).findOneBy({ id });
    return project ?? refuseUnknown(String(id));
  }

  /** Throws `AppError not_found`. */
  async getBySlug(slug: string): Promise<Project> {
    const project = await this.db.repository(Project).findOneBy({ slug });
    return project ?? refuseUnknown(slug);
  }

  /**
   * Changes plan, quotas and agreed streams, and switches the change log. Throws `AppError not_found`, `AppError
   * invalid_request`.
   */
  async change(actor: Actor, slug: string, wanted: ProjectChanges): Promise<Project> {
    const { isLogged, mostStreams, ...changes } = wanted;
    const changed = await this.db.transaction(async (manager) => {
      const project = await manager.findOneBy(Project, { slug });
      if (!project) return refuseUnknown(slug);
      if (isLogged !== undefined) await switchLog(manager, project.id, isLogged, this.now());
      const plan = changes.plan ?? project.plan;
      // A project that leaves Enterprise loses its individual quotas.
      const kept = plan === 'ENTERPRISE' ? project : { perMinute: null, perDay: null };
      const { perMinute, perDay } = { ...kept, ...changes };
      const quotas = { plan, perMinute, perDay };
      checkQuotas(quotas);
      checkStreams(plan, mostStreams);
      // A project that leaves Enterprise loses this number, too.
      await agreeStreams(manager, project.id, plan === 'ENTERPRISE' ? mostStreams : null);
      await manager.update(Project, { id: project.id }, quotas);
      Object.assign(project, quotas);
      if (changes.plan) await this.parts.followPlan(manager, project);
      await this.parts.audit.record(manager, actor, {
        action: 'project.change',
        projectId: project.id,
        subject: slug,
        detail: {
          ...quotas,
          ...(mostStreams === undefined ? {} : { streams: mostStreams }),
          ...(isLogged === undefined ? {} : { changes: isLogged ? 'on' : 'off' }),
        },
      });
      return project;
    });
    this.parts.signals.send(changed.id, 'access');
    return changed;
  }

  /** Records a successful deploy at the current time. Throws `AppError not_found`. */
  publish(actor: Actor, id: bigint): Promise<Project> {
    return this.db.transaction(async (manager) => {
      const project = await manager.findOneBy(Project, { id });
      if (!project) return refuseUnknown(String(id));
      project.publishedAtMs = this.now();
      await manager.update(Project, { id }, { publishedAtMs: project.publishedAtMs });
      await this.parts.audit.record(manager, actor, {
        action: 'project.publish',
        projectId: id,
        subject: project.slug,
      });
      return project;
    });
  }

  /** The caller's project; needs no scope. */
  getOwn({ caller }: ServiceCall): Promise<Project> {
    return this.get(caller.projectId);
  }

  /** As `publish`, for the caller's project. Throws `AppError forbidden`. Spec: Custom domains 2. */
  publishOwn({ caller, actor, idempotencyKey: key }: ServiceCall): Promise<Project> {
    requireScope(caller, 'domains');
    const attempt = { caller, key, operation: 'publishProject', input: [] };
    return this.parts.idempotency.once(attempt, () => this.publish(actor, caller.projectId), PROJECT_CODEC);
  }

  /**
   * Adds an import, which the client did with its own requests, to the acts of the caller's project. The numbers are the
   * client's. Throws `AppError invalid_request`, `AppError forbidden`.
   */
  recordImport({ caller, actor, idempotencyKey: key }: ServiceCall, stated: StatedImport): Promise<Project> {
    requireScope(caller, checkImport(stated, this.parts.scopes.ofNouns));
    const { resource, file, imported, refused } = stated;
    const { projectId } = caller;
    const input = [resource, file, String(imported), String(refused)];
    const act = { action: `${resource}.import`, projectId, subject: file, detail: { imported, refused } };
    return this.parts.idempotency.once(
      { caller, key, operation: 'recordImport', input },
      (complete) =>
        this.db.transaction(async (manager) => {
          const project = await manager.findOneByOrFail(Project, { id: projectId });
          await this.parts.audit.record(manager, actor, act);
          await complete?.(manager, project);
          return project;
        }),
      PROJECT_CODEC,
    );
  }
}

function refuseUnknown(which: string): never {
  throw new AppError('not_found', `There is no project ${which}.`);
}

const PROJECT_CODEC = objectCodec<Project>('id');
