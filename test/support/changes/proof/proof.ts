import { setTimeout as pause } from 'node:timers/promises';
import { createTestDatabase, type DatabaseKind } from '../../databases.js';
import { eventually } from '../../eventually.js';
import { type RedisServer, startRedis } from '../../servers/redis.js';
import { findingsOf } from '../checker.js';
import { isShown, type Lineage, type SeenRecord } from '../evidence.js';
import type { Finding } from '../finding.js';
import type { FollowedProject } from './followed-project.js';
import { createFollowedProjects, Gateways } from './gateways.js';
import { RestSubscriber, withoutTime } from './rest-subscriber.js';
import { RestoredDatabase } from './restored-database.js';
import { StoredLog } from './stored-log.js';
import { StreamSubscriber } from './stream-subscriber.js';
import type { Subscriber, Subscription } from './subscriber.js';
import { Writers } from './writers.js';

const PROJECTS = 3;
const FILTERS = [null, 'available', null, 'sold'];
const REDIS_AWAY_MS = 700;
/** Far less than the time after which a reader looks without a wake. */
const CAUGHT_UP_MS = 20_000;
/** Between two kills. */
const LONGEST_WAIT_MS = 600_000;

export interface ProofSize {
  /** Processes. */
  readonly writers: number;
  readonly writes: number;
  /** Of writers, readers, Redis and connections. */
  readonly kills: number;
  /** How long a stalled subscriber does not read. Above 15 s it has a heartbeat behind what it has not read. */
  readonly stallMs: number;
}

interface Act {
  /** The share of the writes that are done before it, from 0 to 1. */
  readonly at: number;
  readonly what: string;
  readonly run: () => Promise<unknown>;
}

/** Writes, kills and restores while subscribers follow, and checks afterwards what each of them received. */
export class Proof {
  private readonly startedAt = performance.now();
  private readonly acts: string[] = [];
  /** The longest time in which all subscribers caught up with writers that had stopped. */
  private slowestMs = 0;
  private killed = 0;
  private readonly texts = new Map<string, SeenRecord>();
  private readonly stops: (() => Promise<unknown>)[] = [];
  private readonly subscribers: Subscriber[] = [];
  private readonly logs = new Map<FollowedProject, StoredLog>();
  private redis!: RedisServer;
  private gateways!: Gateways;
  private writers!: Writers;
  private restored!: RestoredDatabase;

  constructor(
    private readonly kind: DatabaseKind,
    private readonly size: ProofSize,
  ) {}

  /** Resolves with what broke the promise. */
  async run(): Promise<Finding[]> {
    await this.start();
    const running = this.subscribers.map((subscriber) => subscriber.run());
    for (const act of this.plan()) {
      const wanted = act.at * this.size.writes;
      await eventually(act.what, () => this.writers.acknowledged >= wanted, LONGEST_WAIT_MS);
      this.acts.push(act.what);
      await act.run();
    }
    await this.catchUp();
    await this.writers.stop();
    this.endSubscribers();
    await Promise.all(running);
    const lineages = [...this.logs.values()].flatMap((log) => log.lineages);
    const tracesOf = (isByRest: boolean) =>
      this.subscribers
        .filter((each) => each instanceof RestSubscriber === isByRest)
        .map(({ trace }) => trace);
    return [
      ...findingsOf({ lineages, traces: tracesOf(false) }),
      ...findingsOf({ lineages: lineages.map(asRestShows), traces: tracesOf(true) }),
    ];
  }

  /** The size of what was done. */
  get summary() {
    const total = (count: keyof Subscriber['counts']) =>
      this.subscribers.reduce((sum, { counts }) => sum + counts[count], 0);
    return {
      ...this.writers.counts,
      acknowledged: this.writers.acknowledged,
      kills: this.killed,
      subscribers: this.subscribers.length,
      lists: total('lists'),
      followed: total('followed'),
      changes: total('changes'),
      gone: total('gone'),
      mostGone: Math.max(...this.subscribers.map(({ counts }) => counts.gone)),
      slowestMs: Math.round(this.slowestMs),
      tookMs: Math.round(performance.now() - this.startedAt),
    };
  }

  faults(): string[] {
    return this.gateways.faults();
  }

  async stop(): Promise<void> {
    for (const stop of this.stops.reverse()) await stop();
  }

  private async start(): Promise<void> {
    const database = await createTestDatabase(this.kind);
    this.stops.push(() => database.remove());
    this.redis = await startRedis();
    this.stops.push(() => this.redis.stop());
    this.restored = await RestoredDatabase.of(this.kind, database.url);
    this.stops.push(() => this.restored.remove());
    const projects = await createFollowedProjects(database.url, PROJECTS);
    for (const project of projects)
      this.logs.set(project, await StoredLog.open(database.url, project, this.texts));
    this.gateways = await Gateways.start(database.url, this.redis.url, this.size.writers);
    this.stops.push(() => this.gateways.stop());
    for (const project of projects) {
      for (const status of FILTERS) this.subscribe(StreamSubscriber, project, status);
      this.subscribe(RestSubscriber, project, null);
    }
    this.stops.push(async () => this.endSubscribers());
    this.writers = new Writers(this.gateways, projects);
    this.stops.push(() => this.writers.stop());
  }

  private endSubscribers(): void {
    for (const subscriber of this.subscribers) subscriber.stop();
  }

  private subscribe(
    Kind: new (of: Subscription) => Subscriber,
    project: FollowedProject,
    status: string | null,
  ): void {
    const name = `${Kind.name} ${this.subscribers.length} of ${project.slug}, ${status ?? 'all'}`;
    const address = () => this.gateways.address();
    this.subscribers.push(new Kind({ name, project, status, address, texts: this.texts }));
  }

  private plan(): Act[] {
    const { kills } = this.size;
    const killed: Act[] = Array.from({ length: kills }, (_, number) => {
      const [what, run] = this.kills[number % this.kills.length] as (typeof this.kills)[number];
      const kill = async () => {
        await run();
        this.killed += 1;
      };
      return { at: (number + 0.5) / kills, what, run: kill };
    });
    const others: Act[] = [
      { at: 0.2, what: 'rolling restart', run: () => this.gateways.replaceAll() },
      { at: 0.4, what: 'backup', run: () => this.restored.backUp() },
      { at: 0.5, what: 'trim', run: () => this.trim() },
      { at: 0.7, what: 'restore', run: () => this.restore() },
      ...Array.from({ length: 9 }, (_, number) => ({
        at: (number + 1) / 10,
        what: 'catch up',
        run: () => this.catchUp(),
      })),
      { at: 1, what: 'all writes', run: async () => {} },
    ];
    return [...killed, ...others].sort((a, b) => a.at - b.at);
  }

  private readonly kills: [string, () => Promise<unknown>][] = [
    ['writer killed', () => this.gateways.killWriter()],
    ['connections cut', async () => this.someSubscribers().map((each) => each.cut())],
    ['Redis killed', () => this.killRedis()],
    ['reader killed', () => this.gateways.killReader()],
    ['subscribers crashed', async () => this.someSubscribers().map((each) => each.crash())],
    [
      'subscribers stalled',
      () => Promise.all(this.someSubscribers().map((each) => each.stall(this.size.stallMs))),
    ],
  ];

  private someSubscribers(): Subscriber[] {
    return this.subscribers.filter(() => Math.random() < 0.5);
  }

  private async killRedis(): Promise<void> {
    await this.redis.kill('SIGKILL');
    await pause(REDIS_AWAY_MS);
    await this.redis.restart();
  }

  /** Subscribers are away while the log behind their cursors is deleted. */
  private async trim(): Promise<void> {
    const comeBack = this.someSubscribers().map((subscriber) => subscriber.leave());
    const wanted = this.writers.acknowledged + 0.02 * this.size.writes;
    await eventually('writes', () => this.writers.acknowledged >= wanted, LONGEST_WAIT_MS);
    for (const log of this.logs.values()) await log.trim();
    for (const each of comeBack) each();
  }

  /** Puts the backup in the place of the database, and time goes back for all. */
  private async restore(): Promise<void> {
    await this.gateways.whileStopped(async () => {
      for (const log of this.logs.values()) await log.read();
      await this.restored.putBack();
      for (const log of this.logs.values()) await log.noteRestore();
    });
  }

  /** Writers stop until each subscriber has received everything: nothing but the last wake can tell it. */
  private async catchUp(): Promise<void> {
    await this.writers.pause();
    const pausedAt = performance.now();
    for (const log of this.logs.values()) await log.read();
    const due = this.subscribers.map((subscriber) => ({
      subscriber,
      number: this.lastNumberFor(subscriber),
    }));
    const behind = () => due.filter(({ subscriber, number }) => !subscriber.hasReached(number));
    const received = () => this.subscribers.reduce((sum, { trace }) => sum + trace.steps.length, 0);
    // A list of many pages takes longer, but each page comes within this time.
    while (behind().length > 0) {
      const before = received();
      const goesOn = () => behind().length === 0 || received() > before;
      await eventually('a message', goesOn, CAUGHT_UP_MS).catch((error) => {
        const names = behind().map(({ subscriber, number }) => `${subscriber.name} before ${number}`);
        throw new Error(`${this.acts.join(', ')}: ${names.join('; ')}`, { cause: error });
      });
    }
    this.slowestMs = Math.max(this.slowestMs, performance.now() - pausedAt);
    this.writers.resume();
  }

  private lastNumberFor({ trace }: Subscriber): number {
    const log = [...this.logs].find(([{ slug }]) => slug === trace.project)?.[1];
    const changes = log?.lineages.at(-1)?.changes ?? [];
    return changes.findLast((change) => isShown(change, trace.status))?.number ?? 0;
  }
}

function asRestShows(lineage: Lineage): Lineage {
  const shown = (record: SeenRecord | null) => record && withoutTime(record);
  return {
    ...lineage,
    changes: lineage.changes.map((change) => ({
      ...change,
      before: shown(change.before),
      after: shown(change.after),
    })),
    snapshots: lineage.snapshots.map(({ cursor, records }) => ({
      cursor,
      records: records.map(withoutTime),
    })),
  };
}
