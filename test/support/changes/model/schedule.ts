import type { Evidence, SeenRecord } from '../evidence.js';
import { Dice } from './dice.js';
import { cursorOf, type ModelLog, ModelProject, type ModelTransaction } from './model-log.js';
import { ModelSubscriber } from './model-subscriber.js';

const STEPS = 400;
/** A wrong log may never come to rest. */
const MAX_LAST_STEPS = 2_000;
const IDS = ['1', '2', '3', '4', '5', '6', '7', '8'];
const STATUSES = ['available', 'sold', null];
const FEWEST_KEPT = 2;

interface Backup {
  readonly table: Map<string, SeenRecord>;
  readonly kept: ModelProject['kept'];
  readonly counter: ModelProject['counter'];
  readonly committed: number;
}

/** Writers, subscribers and mishaps on one log, in a random order of their steps. */
export class Schedule {
  private readonly projects = [new ModelProject('a'), new ModelProject('b')] as const;
  private readonly writers: (ModelTransaction | null)[] = [null, null, null, null];
  private readonly subscribers: ModelSubscriber[];
  private readonly dice: Dice;
  private backups: Backup[] | null = null;
  private wakes: ModelProject[] = [];
  private written = 0;

  constructor(
    private readonly log: ModelLog,
    seed: number,
  ) {
    this.dice = new Dice(seed);
    const [a, b] = this.projects;
    this.subscribers = [
      new ModelSubscriber(log, a, null, 'all of a'),
      new ModelSubscriber(log, a, 'sold', 'sold of a'),
      new ModelSubscriber(log, b, null, 'all of b'),
    ];
  }

  run(): Evidence {
    for (let step = 0; step < STEPS; step += 1) {
      if (this.dice.once(4)) this.log.nowMs += 1;
      if (this.dice.once(25)) this.mishap();
      else this.dice.oneOf([this.write, this.write, this.wake, this.serve, this.receive]).call(this);
    }
    this.finish();
    for (const project of this.projects) this.takeSnapshot(project);
    return {
      lineages: this.projects.flatMap(({ lineages }) => lineages),
      traces: this.subscribers.map(({ trace }) => trace),
    };
  }

  /** A step of a writer: a row, the numbers, the commit, or the end of a writer that was killed. */
  private write(): void {
    const at = this.dice.below(this.writers.length);
    const transaction = this.writers[at];
    if (!transaction) {
      this.writers[at] = this.log.begin(this.dice.oneOf(this.projects));
    } else if (transaction.numbers) {
      this.commit(at, transaction);
    } else if (this.dice.once(10)) {
      this.log.rollback(transaction);
      this.writers[at] = null;
    } else if (transaction.drafts.size > 0 && this.dice.once(2)) {
      this.log.draw(transaction);
    } else {
      this.writeRow(transaction);
    }
  }

  private writeRow(transaction: ModelTransaction): void {
    const id = this.dice.oneOf(IDS);
    const status = this.dice.oneOf(STATUSES);
    this.written += 1;
    const name = transaction.project.name;
    const after = { id: `${name}${id}`, status, text: `${name}${id} ${status} ${this.written}` };
    this.log.write(transaction, after.id, this.dice.once(3) ? null : after);
  }

  private commit(at: number, transaction: ModelTransaction): void {
    this.log.commit(transaction);
    this.writers[at] = null;
    this.wakes.push(transaction.project);
  }

  /** Wakes arrive late, but all of them arrive. */
  private wake(): void {
    this.wakes.shift();
    for (const { stream } of this.subscribers) stream?.wake();
  }

  private serve(): boolean {
    return this.dice.oneOf(this.subscribers).stream?.serve() ?? false;
  }

  private receive(): boolean {
    return this.dice.oneOf(this.subscribers).step(this.dice);
  }

  private mishap(): void {
    const { dice } = this;
    const kind = dice.below(6);
    if (kind === 0) this.trim(dice.oneOf(this.projects));
    else if (kind === 1) this.takeSnapshot(dice.oneOf(this.projects));
    else if (kind === 2 && this.backups) this.restore(this.backups);
    else if (kind === 2) this.backups = this.projects.map(backUp);
    else dice.oneOf(this.subscribers).disconnect(dice.once(2));
  }

  private trim(project: ModelProject): void {
    project.kept = project.kept.slice(-FEWEST_KEPT);
  }

  private takeSnapshot({ counter, table, snapshots }: ModelProject): void {
    snapshots.push({ cursor: cursorOf(counter), records: [...table.values()] });
  }

  /** All connections and open transactions end, and the clock advances. */
  private restore(backups: readonly Backup[]): void {
    for (const transaction of this.writers) if (transaction) this.log.rollback(transaction);
    this.writers.fill(null);
    for (const subscriber of this.subscribers) subscriber.disconnect(false);
    for (const [index, project] of this.projects.entries()) putBack(project, backups[index] as Backup);
    this.wakes = [];
    this.backups = null;
    this.log.nowMs += 10;
  }

  /** Writers end; then subscribers receive until nothing moves. */
  private finish(): void {
    for (const [at, transaction] of this.writers.entries()) {
      if (!transaction) continue;
      if (transaction.numbers) this.commit(at, transaction);
      else this.log.rollback(transaction);
    }
    while (this.wakes.length > 0) this.wake();
    for (let step = 0; step < MAX_LAST_STEPS; step += 1) {
      const moved = this.subscribers.map((subscriber) =>
        [subscriber.stream?.serve(), subscriber.step(this.dice)].some(Boolean),
      );
      if (!moved.some(Boolean)) return;
    }
  }
}

function backUp({ table, kept, counter, committed }: ModelProject): Backup {
  return { table: new Map(table), kept: [...kept], counter, committed: committed.length };
}

function putBack(project: ModelProject, { table, kept, counter, committed }: Backup): void {
  project.table.clear();
  for (const [id, record] of table) project.table.set(id, record);
  project.kept = [...kept];
  project.counter = counter;
  project.beginLineage(project.committed.slice(0, committed));
}
