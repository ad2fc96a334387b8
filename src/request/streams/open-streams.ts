import type { Caller } from '../../ground/kernel/caller.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ProjectSignals } from '../../ground/records/project-signals.js';
import { hasPassed, type KnownKey } from '../../tenants/api-keys/caller-cache.js';
import { unauthorized } from '../admission/refusal-errors.js';
import type { StreamSlots } from './stream-slots.js';

/** A revoked key ends its streams within a second. */
const TICK_MS = 500;
const RENEW_EVERY_MS = 10_000;
const BEAT_EVERY_MS = 15_000;
const LONGEST_MS = DAY_MS;
/** A refusal is free, and may be repeated at once: a key's further ones of a second need no look-up. */
const REFUSALS_A_SECOND = 5;
/** Nobody knows when a stream ends, but those of a process that died are free then. */
const RETRY_AFTER_SECONDS = 30;

/** A stream as its door gives it. */
export interface Stream {
  readonly id: string;
  readonly caller: Caller;
  /** It shows the change log, and ends with it. */
  readonly needsLog: boolean;
  /** Whether the host that it came to still belongs to its project. Null = it is the platform's own. */
  readonly isServed: (() => Promise<boolean>) | null;
  /** As `performance.now()`. */
  readonly sentAtMs: number;
  /** Tells the client that the stream is alive. */
  beat(): void;
  /** Ends with this error; `isFinal` = the client must not connect again. */
  end(reason: AppError, isFinal: boolean): void;
}

interface Entry {
  readonly project: ProjectStreams;
  readonly stream: Stream;
  readonly openedAtMs: number;
  expiresAtMs: number | null;
}

interface ProjectStreams {
  readonly id: bigint;
  /** In the order of their opening. */
  readonly entries: Map<string, Entry>;
  /** As a key of the project tells it. */
  mostStreams: number;
  readonly endSignals: () => void;
}

/** The open streams of this process: how many a project may have, and when they end. */
export class OpenStreams implements Capability {
  readonly readings = [['open_streams', 'Open streams of changes.', () => this.size] as const];
  private readonly projects = new Map<bigint, ProjectStreams>();
  /** The refusals of a second, of the keys that were refused. */
  private readonly refused = new WeakMap<Caller, { readonly sinceMs: number; readonly errors: AppError[] }>();
  private timer: NodeJS.Timeout | null = null;
  private checkedAtMs = 0;
  private renewedAtMs = 0;
  private isDraining = false;

  /** Without `slots`, and while Redis is unavailable, a process counts only its own streams. */
  constructor(
    private readonly slots: StreamSlots | null,
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
    if (this.isDraining) throw ended('This process ends.');
    const { projectId, keyId } = stream.caller;
    const atMs = performance.now();
    const known = this.refused.get(stream.caller);
    const refusals = known && atMs - known.sinceMs < 1_000 ? known : { sinceMs: atMs, errors: [] };
    if (refusals.errors.length >= REFUSALS_A_SECOND) throw refusals.errors.at(-1);
    const project = this.projects.get(projectId) ?? this.add(projectId);
    const entry: Entry = { project, stream, openedAtMs: this.now(), expiresAtMs: null };
    // First, so that a key that is revoked from now on ends the stream.
    project.entries.set(stream.id, entry);
    try {
      const key = (await this.findKeys([keyId])).get(keyId);
      if (!key) throw unauthorized();
      this.update(entry, key);
      const beyond = await this.beyond(project, [stream.id]);
      if (beyond.includes(stream.id)) throw tooMany(project);
    } catch (error) {
      this.leave(stream);
      if (error instanceof AppError && error.code === 'too_many_streams') {
        refusals.errors.push(error);
        this.refused.set(stream.caller, refusals);
      }
      throw error;
    }
  }

  close(stream: Stream): void {
    this.refused.delete(stream.caller);
    this.leave(stream);
  }

  private leave({ id, caller: { projectId } }: Stream): void {
    const project = this.projects.get(projectId);
    if (!project?.entries.delete(id)) return;
    this.slots?.release(projectId, id);
    if (project.entries.size > 0) return;
    project.endSignals();
    this.projects.delete(projectId);
  }

  /** From now on there are no streams: clients connect to another process. */
  drain(): void {
    this.isDraining = true;
    for (const { entries } of this.projects.values()) {
      for (const { stream } of entries.values()) stream.end(ended('This process ends.'), false);
    }
  }

  private add(id: bigint): ProjectStreams {
    const endSignals = this.signals.listen(id, (signal) => {
      if (signal === 'access' || signal === 'domains') void this.check([project]);
    });
    const project: ProjectStreams = {
      id,
      entries: new Map(),
      mostStreams: Number.MAX_SAFE_INTEGER,
      endSignals,
    };
    this.projects.set(id, project);
    this.timer ??= setInterval(() => void this.tick(), TICK_MS).unref();
    return project;
  }

  private async tick(): Promise<void> {
    const [nowMs, atMs] = [this.now(), performance.now()];
    const projects = [...this.projects.values()];
    for (const { entries } of projects) {
      for (const { stream, openedAtMs, expiresAtMs } of entries.values()) {
        if (hasPassed(expiresAtMs, nowMs)) stream.end(unauthorized(), true);
        else if (nowMs - openedAtMs >= LONGEST_MS) stream.end(ended('A stream lasts 24 hours.'), false);
        else if (atMs - stream.sentAtMs >= BEAT_EVERY_MS) stream.beat();
      }
    }
    const isRenewal = atMs - this.renewedAtMs >= RENEW_EVERY_MS;
    if (isRenewal) this.renewedAtMs = atMs;
    if (this.checkedAtMs < this.signals.completeSinceMs) {
      if (await this.check(projects)) this.checkedAtMs = atMs;
    } else if (isRenewal) for (const project of projects) void this.keepSlots(project);
  }

  /**
   * Ends the streams of keys that are not valid any more, and those beyond the plan. A statement for all projects. Returns
   * false for an unavailable database, which ends no stream.
   */
  private async check(projects: readonly ProjectStreams[]): Promise<boolean> {
    const entries = projects.flatMap((project) => [...project.entries.values()]);
    const keyIds = new Set(entries.map(({ stream }) => stream.caller.keyId));
    const keys = await this.findKeys([...keyIds]).catch(() => null);
    if (!keys) return false;
    for (const entry of entries) {
      this.update(entry, keys.get(entry.stream.caller.keyId));
      const { isServed } = entry.stream;
      if (isServed && !(await isServed().catch(() => true))) entry.stream.end(misdirected(), true);
    }
    for (const project of projects) await this.keepSlots(project);
    return true;
  }

  /** Takes over what another process may have changed. */
  private update(entry: Entry, key: KnownKey | undefined): void {
    if (entry.stream.needsLog && key?.caller.changesSinceMs === null) entry.stream.end(logIsOff(), true);
    if (!key) entry.stream.end(unauthorized(), true);
    else [entry.expiresAtMs, entry.project.mostStreams] = [key.expiresAtMs, key.mostStreams];
  }

  private async keepSlots(project: ProjectStreams): Promise<void> {
    const beyond = await this.beyond(project, [...project.entries.keys()]);
    for (const id of beyond) project.entries.get(id)?.stream.end(tooMany(project), true);
  }

  /** Takes or keeps the slots of these streams. Returns those of the project that are beyond its number. */
  private async beyond({ id, entries, mostStreams }: ProjectStreams, streamIds: string[]): Promise<string[]> {
    const shared = await this.slots?.keep(id, streamIds, mostStreams);
    return shared ?? [...entries.keys()].slice(mostStreams);
  }
}

function tooMany({ mostStreams: limit }: ProjectStreams): AppError {
  const message = `The plan of this project allows ${limit} open streams. Close one, share it, or ask for a higher plan.`;
  return new AppError('too_many_streams', message, { limit, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function ended(reason: string): AppError {
  const message = `${reason} Connect again, and resume with the cursor of the last change.`;
  return new AppError('unavailable', message);
}

function misdirected(): AppError {
  return new AppError('misdirected', 'This host is not served here any more.');
}

function logIsOff(): AppError {
  return new AppError('conflict', 'The change log of this project was switched off.');
}
