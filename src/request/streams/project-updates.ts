import { requireScope, type Scope, type ServiceCall } from '../../ground/kernel/caller.js';
import { invalidField } from '../../ground/kernel/errors.js';
import type { ProjectSignals, Signal } from '../../ground/records/project-signals.js';

/** The kinds that can be followed, with the scope that reading them needs. */
const SCOPES = { requests: 'keys', domains: 'domains' } as const satisfies Partial<Record<Signal, Scope>>;

export type UpdateKind = keyof typeof SCOPES;

/** Something of this kind may have changed. */
export interface Update {
  readonly kind: UpdateKind;
  readonly cursor: null;
}

const TICK_MS = 1_000;
/** While other processes are not heard, everything may have changed after this time. */
const LOOK_EVERY_MS = 10_000;

/** Says what of a project may have changed, each kind at most once in a tick. Reads no database. */
export class ProjectUpdates {
  readonly cursor = null;
  /** Called when there are updates to take. */
  onWake: () => void = () => {};
  private readonly due = new Set<UpdateKind>();
  private ready: readonly Update[] = [];
  private readonly endSignals: () => void;
  private readonly timer: NodeJS.Timeout;
  /** When all were told. */
  private lookedAtMs = Number.NEGATIVE_INFINITY;

  /** Throws `AppError forbidden`, `invalid_request`. */
  constructor(
    private readonly signals: ProjectSignals,
    { caller }: ServiceCall,
    private readonly kinds: readonly UpdateKind[],
  ) {
    for (const kind of kinds) requireScope(caller, SCOPES[kind]);
    if (kinds.length === 0) throw invalidField('of', 'must have an entry');
    this.endSignals = signals.listen(caller.projectId, (signal) => {
      // Another plan suspends domains, or resumes them.
      const changed = signal === 'access' ? 'domains' : signal;
      for (const kind of kinds) if (kind === changed) this.due.add(kind);
    });
    this.timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** The next updates, if there are any. */
  async take(): Promise<readonly Update[]> {
    if (this.lookedAtMs === Number.NEGATIVE_INFINITY) this.tick();
    const updates = this.ready;
    this.ready = [];
    return updates;
  }

  stop(): void {
    clearInterval(this.timer);
    this.endSignals();
  }

  private tick(): void {
    const nowMs = performance.now();
    const { completeSinceMs } = this.signals;
    const isHeard = completeSinceMs !== Number.POSITIVE_INFINITY;
    if (isHeard ? this.lookedAtMs < completeSinceMs : nowMs - this.lookedAtMs >= LOOK_EVERY_MS) {
      for (const kind of this.kinds) this.due.add(kind);
      this.lookedAtMs = nowMs;
    }
    // The reader has not taken the last ones.
    if (this.due.size === 0 || this.ready.length > 0) return;
    this.ready = [...this.due].map((kind) => ({ kind, cursor: null }));
    this.due.clear();
    this.onWake();
  }
}
