import type { IdempotencyService } from '../idempotency/idempotency.service.js';
import { requireScope, type ServiceCall } from '../kernel/caller.js';
import type { Project } from './project.entity.js';
import type { ProjectService } from './project.service.js';

/** Reads and changes the caller's project. */
export class OwnProject {
  constructor(
    private readonly projects: ProjectService,
    private readonly idempotency: IdempotencyService,
  ) {}

  /** Needs no scope. */
  get({ caller }: ServiceCall): Promise<Project> {
    return this.projects.get(caller.projectId);
  }

  /** Records a successful deploy at the current time. Throws `AppError forbidden`. Spec: Custom domains 2. */
  publish({ caller, actor, idempotencyKey: key }: ServiceCall): Promise<Project> {
    requireScope(caller, 'domains');
    const publish = () => this.projects.publish(actor, caller.projectId);
    if (key === null) return publish();
    return this.idempotency.once(
      { caller, key, operation: 'publishProject', input: [] },
      publish,
      PROJECT_JSON,
    );
  }
}

/** The stored form of a project as the answer to an Idempotency-Key. */
const PROJECT_JSON = {
  write: (project: Project) =>
    JSON.stringify(project, (_, value) => (typeof value === 'bigint' ? String(value) : (value as unknown))),
  read: (json: string): Project => {
    const project = JSON.parse(json);
    return { ...project, id: BigInt(project.id), changeNumber: BigInt(project.changeNumber) };
  },
};
