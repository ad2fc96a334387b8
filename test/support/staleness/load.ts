import { type Answered, KeepAliveClient, NoAnswer } from '../http/keep-alive-client.js';
import { Herd, type HerdToy, nameOf } from './herd.js';

const CLIENTS = 16;
const HERDS = 2;
/** The default share of writes among the operations. */
export const WRITE_SHARE = 0.03;
const CREATE_SHARE = 0.3;
const UPDATE = 'mutation ($id: ID!, $input: ToyChanges!) { updateToy(id: $id, input: $input) { id } }';
const DELETE = 'mutation ($id: ID!) { deleteToy(id: $id) { id } }';
/** The share of deletions among the writes of known toys. */
const DELETE_SHARE = 0.2;
const NODES = '{ toys(first: 100) { nodes { name categoryId } } }';
const EDGES = 'query Edges($n: Int) { toys(first: $n) { edges { cursor node { id name categoryId } } } }';
const NEWEST = '{ toys(first: 100, orderBy: NEWEST) { nodes { name categoryId } } }';
const BY_NAME =
  'query ByName($name: String) { toys(first: 100, nameStartsWith: $name) { nodes { name categoryId } } }';

/** An address for clients. It stays the same when its process is replaced. */
export interface Target {
  readonly name: string;
  readonly url: string;
  isUp: boolean;
  /** Called for each write that is sent to it. */
  onWrite?: () => void;
}

interface Asked {
  path: string;
  pageSize: number;
  body?: unknown;
}

const READS: readonly Asked[] = [
  { path: '/v1/toys?limit=100', pageSize: 100 },
  { path: '/v1/toys?limit=5', pageSize: 5 },
  { path: '/graphql', pageSize: 100, body: { query: NODES } },
  { path: '/graphql', pageSize: 100, body: { query: EDGES, variables: { n: 100 } } },
  { path: '/graphql', pageSize: 100, body: { query: NEWEST } },
  { path: '/graphql', pageSize: 100, body: { query: BY_NAME, variables: { name: 'toy-' } } },
];

/** Clients that read and write toys at random targets without pause, and the histories of their answers. */
export class StalenessLoad {
  readonly counts = { reads: 0, writes: 0, unacknowledged: 0, refused: 0, failed: 0 };
  writeShare = WRITE_SHARE;
  private readonly all: Herd[] = [];
  private readonly herds: Herd[] = [];

  constructor(
    private readonly targets: readonly Target[],
    /** Creates a project and returns its token. */
    private readonly newToken: () => Promise<string>,
  ) {}

  get operations(): number {
    return this.counts.reads + this.counts.writes;
  }

  get histories() {
    return this.all.map(({ history }) => history);
  }

  /** Resolves when all clients have stopped. */
  async run(isOver: () => boolean): Promise<void> {
    for (let index = 0; index < HERDS; index += 1) await this.replace(index);
    await Promise.all(Array.from({ length: CLIENTS }, () => this.loop(isOver)));
  }

  private async loop(isOver: () => boolean): Promise<void> {
    const clients = new Map(this.targets.map((target) => [target, new KeepAliveClient(target.url, '')]));
    while (!isOver()) {
      const target = oneOf(this.targets.filter(({ isUp }) => isUp));
      const client = clients.get(target) as KeepAliveClient;
      const index = Math.floor(Math.random() * HERDS);
      if (this.herds[index]?.isSpent) await this.replace(index);
      const herd = this.herds[index] as Herd;
      if (Math.random() < this.writeShare) await this.write(client, target, herd);
      else await this.read(client, target, herd);
    }
    for (const client of clients.values()) client.close();
  }

  private async replace(index: number): Promise<void> {
    const spent = this.herds[index];
    const herd = new Herd(await this.newToken());
    // Another client has already replaced the herd.
    if (this.herds[index] !== spent) return;
    spent?.retire();
    this.herds[index] = herd;
    this.all.push(herd);
  }

  private async read(client: KeepAliveClient, target: Target, herd: Herd): Promise<void> {
    const { path, pageSize, body } = oneOf(READS);
    const answer = await this.send(client, herd, path, body);
    if (!answer) return;
    this.counts.reads += 1;
    herd.addRead(answer, pageSize, `${target.name} ${path}`);
  }

  private async write(client: KeepAliveClient, target: Target, herd: Herd): Promise<void> {
    const known = Math.random() < CREATE_SHARE ? null : herd.takeToy();
    const toy = known ?? herd.newToy();
    toy.isDeleted = known !== null && Math.random() < DELETE_SHARE;
    const write = herd.beginWrite(toy, target.name);
    const sent = toy.isDeleted
      ? this.delete(client, herd, toy)
      : known
        ? this.update(client, herd, toy)
        : this.create(client, herd, toy);
    target.onWrite?.();
    const answer = await sent;
    this.counts.writes += 1;
    if (!answer) this.counts.unacknowledged += 1;
    herd.endWrite(toy, write, answer);
  }

  private create(client: KeepAliveClient, herd: Herd, toy: HerdToy): Promise<Answered | null> {
    return this.send(client, herd, '/v1/toys', { name: nameOf(toy), categoryId: toy.value });
  }

  private update(client: KeepAliveClient, herd: Herd, toy: HerdToy): Promise<Answered | null> {
    const input = { name: nameOf(toy), categoryId: String(toy.value) };
    return this.send(client, herd, '/graphql', { query: UPDATE, variables: { id: toy.id, input } });
  }

  private delete(client: KeepAliveClient, herd: Herd, { id }: HerdToy): Promise<Answered | null> {
    return this.send(client, herd, '/graphql', { query: DELETE, variables: { id } });
  }

  /** Null = the client did not get an answer with data. */
  private async send(
    client: KeepAliveClient,
    { token }: Herd,
    path: string,
    body: unknown,
  ): Promise<Answered | null> {
    const method = body === undefined ? 'GET' : 'POST';
    try {
      const answer = await client.send(path, { method, body, headers: { authorization: `Bearer ${token}` } });
      if (answer.status < 300 && !answer.text.startsWith('{"errors"')) return answer;
      this.counts.refused += 1;
      if (this.counts.refused < 6)
        process.stdout.write(`${JSON.stringify(body)} ${answer.status} ${answer.text}\n`);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.counts.failed += 1;
    }
    return null;
  }
}

function oneOf<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}
