import { setTimeout as pause } from 'node:timers/promises';
import { type Answered, KeepAliveClient, NoAnswer } from '../../http/keep-alive-client.js';
import { type FollowedProject, STATUSES } from './followed-project.js';
import type { Gateways } from './gateways.js';

const CLIENTS = 16;
const MOST_INPUTS = 100;
const RETRY_MS = 20;
const CREATE = 'mutation ($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id } }';
const UPDATE = 'mutation ($id: ID!, $input: ToyChanges!) { updateToy(id: $id, input: $input) { id } }';
const DELETE = 'mutation ($id: ID!) { deleteToy(id: $id) { id } }';
const NAMES = ['Rex', 'Мурка', '猫 "Neko"', "D'Artagnan \\ Söhne", '😀🐕‍🦺', 'a<b>&c'];
const MAX_INT64 = 2n ** 63n - 1n;

type Limited = 'createToys' | 'updateToy' | 'deleteToy';

/** Clients that write toys of all kinds of values through random processes, without pause. */
export class Writers {
  readonly counts = { created: 0, createdTogether: 0, updated: 0, deleted: 0, refused: 0, unanswered: 0 };
  private isPaused = false;
  private isOver = false;
  private active = 0;
  private written = 0;
  /** Known toys of each project. */
  private readonly ids = new Map<FollowedProject, string[]>();
  /** Until when a field may not be used again. */
  private readonly limits = new Map<string, number>();
  private readonly loops: Promise<void>[];

  constructor(
    private readonly gateways: Gateways,
    /** The first has most of the writes. */
    private readonly projects: readonly FollowedProject[],
  ) {
    for (const project of projects) this.ids.set(project, []);
    this.loops = Array.from({ length: CLIENTS }, () => this.loop());
  }

  /** Acknowledged changes. */
  get acknowledged(): number {
    const { created, createdTogether, updated, deleted } = this.counts;
    return created + createdTogether + updated + deleted;
  }

  /** Resolves when no write is under way. */
  async pause(): Promise<void> {
    this.isPaused = true;
    while (this.active > 0) await pause(RETRY_MS);
  }

  resume(): void {
    this.isPaused = false;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  private async loop(): Promise<void> {
    const clients = new Map<string, KeepAliveClient>();
    while (!this.isOver) {
      if (this.isPaused) {
        await pause(RETRY_MS);
        continue;
      }
      const target = this.gateways.writer();
      const client = clients.get(target.url) ?? new KeepAliveClient(target.url, '');
      clients.set(target.url, client);
      this.active += 1;
      const sent = this.write(client);
      target.onWrite?.();
      const isDone = await sent.finally(() => {
        this.active -= 1;
      });
      if (!isDone) await pause(RETRY_MS);
    }
    for (const client of clients.values()) client.close();
  }

  private async write(client: KeepAliveClient): Promise<boolean> {
    // Half of all writes meet in one project.
    const project = (Math.random() < 0.5 ? this.projects[0] : oneOf(this.projects)) as FollowedProject;
    const ids = this.ids.get(project) ?? [];
    const draw = Math.random();
    if (draw < 0.25 && ids.length > 0 && this.mayUse(project, 'updateToy')) {
      return this.update(client, project, oneOf(ids));
    }
    if (draw < 0.4 && ids.length > 0 && this.mayUse(project, 'deleteToy')) {
      return this.delete(client, project, ids);
    }
    if (draw < 0.45 && this.mayUse(project, 'createToys')) return this.createTogether(client, project, ids);
    return this.create(client, project, ids);
  }

  private async create(client: KeepAliveClient, project: FollowedProject, ids: string[]): Promise<boolean> {
    // A larger integer would lose digits here.
    const body = { ...this.newToy(), categoryId: below(Number.MAX_SAFE_INTEGER) };
    const answer = await this.send(client, project, '/v1/toys', body);
    const [, id] = /"id":(\d+)/.exec(answer?.text ?? '') ?? [];
    if (id === undefined) return false;
    ids.push(id);
    this.counts.created += 1;
    return true;
  }

  private async createTogether(client: KeepAliveClient, project: FollowedProject, ids: string[]) {
    const inputs = Array.from({ length: 1 + below(MOST_INPUTS) }, () => this.newToy());
    const answer = await this.mutate(client, project, 'createToys', CREATE, { inputs });
    if (!answer) return false;
    ids.push(...[...answer.text.matchAll(/"id":"(\d+)"/g)].map(([, id]) => String(id)));
    this.counts.createdTogether += inputs.length;
    return true;
  }

  private async update(client: KeepAliveClient, project: FollowedProject, id: string): Promise<boolean> {
    const { name, status, categoryId } = this.newToy();
    const input = oneOf<object>([{ status }, { name }, { name, status, categoryId }]);
    const answer = await this.mutate(client, project, 'updateToy', UPDATE, { id, input });
    if (answer) this.counts.updated += 1;
    return answer !== null;
  }

  private async delete(client: KeepAliveClient, project: FollowedProject, ids: string[]): Promise<boolean> {
    const [id] = ids.splice(below(ids.length), 1);
    const answer = await this.mutate(client, project, 'deleteToy', DELETE, { id });
    if (answer) this.counts.deleted += 1;
    return answer !== null;
  }

  private newToy() {
    this.written += 1;
    const name = `${oneOf(NAMES)} ${this.written}`;
    const categoryId = String(MAX_INT64 - BigInt(below(1_000)));
    return { name, categoryId, status: oneOf([...STATUSES, null]) };
  }

  private async mutate(
    client: KeepAliveClient,
    project: FollowedProject,
    field: Limited,
    query: string,
    variables: object,
  ): Promise<Answered | null> {
    const answer = await this.send(client, project, '/graphql', { query, variables });
    if (answer && !answer.text.includes('"errors":[')) return answer;
    const [, seconds] = /"FIELD_RATE_LIMITED".*?"retryAfterSeconds":(\d+)/.exec(answer?.text ?? '') ?? [];
    if (seconds) this.limits.set(`${field} ${project.slug}`, performance.now() + Number(seconds) * 1_000);
    return null;
  }

  private mayUse({ slug }: FollowedProject, field: Limited): boolean {
    return (this.limits.get(`${field} ${slug}`) ?? 0) < performance.now();
  }

  /** Null = there was no answer, or a refusal without a body of GraphQL. */
  private async send(
    client: KeepAliveClient,
    { token }: FollowedProject,
    path: string,
    body: unknown,
  ): Promise<Answered | null> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    // With a key the change is committed together with the stored answer.
    if (below(4) === 0) headers['idempotency-key'] = `write-${this.written}-${Math.random()}`;
    try {
      const answer = await client.send(path, { method: 'POST', headers, body });
      if (answer.status >= 300) this.counts.refused += 1;
      return answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.counts.unanswered += 1;
      return null;
    }
  }
}

function below(end: number): number {
  return Math.floor(Math.random() * end);
}

function oneOf<T>(values: readonly T[]): T {
  return values[below(values.length)] as T;
}
