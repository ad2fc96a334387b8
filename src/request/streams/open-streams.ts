import type { Caller } from '../../ground/kernel/caller.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ProjectSignals } from '../../ground/records/project-signals.js';
import type { KnownKey } from '../../tenants/api-keys/caller-cache.js';
import { hasPassed } from '../../tenants/api-keys/caller-cache.js';
import { unauthorized } from '../admission/refusal-errors.js';
import type { StreamSlots } from './stream-slots.js';

const TICK_MS = 250;
/** A revoked key ends its streams within a second. */
const CHECK_EVERY_MS = 500;
const RENEW_EVERY_MS = 10_000;
const BEAT_EVERY_MS = 15_000;
const LONGEST_MS = DAY_MS;

/** A stream as its door gives it. */
export interface Stream {
  readonly id: string;
  readonly caller: Caller;
  /** As `performance.now()`. */
  readonly sentAtMs: number;
  /** Tells the client that the stream is alive. */
  beat(): void;
  /** Ends with this error; `isFinal` = the client must not connect again. */
  end(reason: AppError, isFinal: boolean): void;
}

interface Entry {
  readonly stream: Stream;
  readonly openedAtMs: number;
  expiresAtMs: number | null;
}

interface ProjectStreams {
  /** In the order of their opening. */
  readonly entries: Map<string, Entry>;
  mostStreams: number;
  endSignals: () => void;
}

/** The open streams of this process: how many a project may have, and when they end. */
export class OpenStreams {
  private readonly projects = new Map<bigint, ProjectStreams>();
  private timer: NodeJS.Timeout | null = null;
  private checkedAtMs = 0;
  private renewedAtMs = 0;
  private isDraining = false;

  constructor(
    private readonly slots: StreamSlots,
    private readonly findKeys: (keyIds: readonly bigint[]) => Promise<ReadonlyMap<bigint, KnownKey>>,
    private readonly signals: ProjectSignals,
    private readonly now: () => number,
  ) {}

  get size(): number {
    return [...this.projects.values()].reduce((sum, { entries }) => sum + entries.size, 0);
  }

  /**
   * Adds a stream; `close` removes it. Throws `AppError too_many_streams`; `unauthorized` for a key that was revoked
   * meanwhile; `unavailable` while the process ends.
   */
  async open(stream: Stream): Promise<void> {
    if (this.isDraining) throw endOfProcess();
    const { projectId, keyId } = stream.caller;
    const project = this.projectOf(projectId);
    // First, so that a key that is revoked from now on ends the stream.
    project.entries.set(stream.id, { stream, openedAtMs: this.now(), expiresAtMs: null });
    try {
      const key = (await this.findKeys([keyId])).get(keyId);
      if (!key) throw unauthorized();
      project.mostStreams = key.mostStreams;
      this.update(project, key);
      if (await this.slots.take(projectId, stream.id, key.mostStreams)) return;
    } catch (error) {
      this.close(stream);
      throw error;
    }
    this.close(stream);
    throw tooMany(project.mostStreams);
  }

  close({ id, caller: { projectId } }: Stream): void {
    const project = this.projects.get(projectId);
    if (!project?.entries.delete(id)) return;
    this.slots.release(projectId, id);
    if (project.entries.size > 0) return;
    project.endSignals();
    this.projects.delete(projectId);
    if (this.projects.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  /** From now on there are no streams: clients connect to another process. */
  drain(): void {
    this.isDraining = true;
    for (const project of this.projects.values()) {
      for (const { stream } of [...project.entries.values()]) stream.end(endOfProcess(), false);
    }
  }

  private projectOf(projectId: bigint): ProjectStreams {
    const known = this.projects.get(projectId);
    if (known) return known;
    const project: ProjectStreams = { entries: new Map(), mostStreams: 0, endSignals: () => {} };
    project.endSignals = this.signals.listen(projectId, (signal) => {
      if (signal === 'access') void this.check([project]);
    });
    this.projects.set(projectId, project);
    this.timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    return project;
  }

  private tick(): void {
    const [nowMs, atMs] = [this.now(), performance.now()];
    const projects = [...this.projects.values()];
    for (const { entries } of projects) {
      for (const { stream, openedAtMs, expiresAtMs } of [...entries.values()]) {
        if (hasPassed(expiresAtMs, nowMs)) stream.end(unauthorized(), true);
        else if (nowMs - openedAtMs >= LONGEST_MS) stream.end(endOfDay(), false);
        else if (atMs - stream.sentAtMs >= BEAT_EVERY_MS) stream.beat();
      }
    }
    const isDue = !this.signals.isComplete && atMs - this.checkedAtMs >= CHECK_EVERY_MS;
    const isRenewal = atMs - this.renewedAtMs >= RENEW_EVERY_MS;
    if (isDue) {
      this.checkedAtMs = atMs;
      void this.check(projects);
    } else if (isRenewal) for (const project of projects) void this.keepSlots(project);
    if (isRenewal) this.renewedAtMs = atMs;
  }

  /** Ends the streams of keys that are not valid any more, and those beyond the plan. A statement for all projects. */
  private async check(projects: readonly ProjectStreams[]): Promise<void> {
    const entries = projects.flatMap((project) => [...project.entries.values()]);
    const keyIds = [...new Set(entries.map(({ stream }) => stream.caller.keyId))];
    // An unavailable database ends no stream.
    const keys = await this.findKeys(keyIds).catch(() => null);
    if (!keys) return;
    for (const { stream } of entries) if (!keys.has(stream.caller.keyId)) stream.end(unauthorized(), true);
    for (const project of projects) {
      for (const key of keys.values()) this.update(project, key);
      await this.keepSlots(project);
    }
  }

  /** Takes over what another process may have changed. */
  private update(project: ProjectStreams, { caller, expiresAtMs, mostStreams }: KnownKey): void {
    for (const entry of [...project.entries.values()]) {
      if (entry.stream.caller.keyId !== caller.keyId) continue;
      entry.expiresAtMs = expiresAtMs;
      project.mostStreams = mostStreams;
      if (caller.changesSinceMs === null) entry.stream.end(logIsOff(), true);
    }
  }

  private async keepSlots({ entries, mostStreams }: ProjectStreams): Promise<void> {
    const [first] = entries.values();
    if (!first) return;
    const { projectId } = first.stream.caller;
    const beyond = await this.slots.renew(projectId, [...entries.keys()], mostStreams);
    for (const id of beyond) entries.get(id)?.stream.end(tooMany(mostStreams), true);
  }
}

function tooMany(most: number): AppError {
  const message = `The plan of this project allows ${most} open streams. Close one, share it, or ask for a higher plan.`;
  return new AppError('too_many_streams', message, { limit: most });
}

function endOfProcess(): AppError {
  const message = 'This process ends. Connect again, and resume with the cursor of the last change.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1 });
}

function endOfDay(): AppError {
  const message = 'A stream lasts 24 hours. Connect again, and resume with the cursor of the last change.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1 });
}

function logIsOff(): AppError {
  return new AppError('conflict', 'The change log of this project was switched off.');
}
