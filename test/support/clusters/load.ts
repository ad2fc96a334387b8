import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, graphql, rest } from '../../../src/testing/http-client.js';
import { eventually } from '../eventually.js';
import type { Place } from './three-gateways.js';

const READY_EVERY_MS = 200;
const REPEAT_EVERY_MS = 200;
const LIST = '{ toys(first: 50, orderBy: NEWEST) { nodes { id name } } }';
const UPDATE =
  'mutation ($id: ID!, $name: String!) { toy: updateToy(id: $id, input: { name: $name }) { id } }';
const DELETE = 'mutation ($id: ID!) { toy: deleteToy(id: $id) { id } }';
const CHANGES =
  'query ($after: String) { toyChanges(first: 100, after: $after) { nodes { kind toy { name } } pageInfo { endCursor } } }';

/** The answer of a gateway, or 0 for none. */
export interface Seen {
  /** When the request began. */
  readonly beganMs: number;
  readonly endedMs: number;
  readonly status: number;
  readonly what: 'write' | 'read' | 'follow';
  readonly place: number;
  readonly message: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes; a wrong access fails the test.
type SomeAnswer = Answer<any>;
type Send = (url: string) => Promise<SomeAnswer>;
type Headers = Record<string, string>;

/** Sends requests as deploy/haproxy.cfg does: to the gateway with the fewest open ones whose `/readyz` was 200 at the last look. */
export class Balancer {
  readonly seen: Seen[] = [];
  private ready: number[] = [];
  private readonly open: number[];
  private turn = 0;
  /** All writes go there meanwhile, as the guide asks for a migration on Group Replication; null = anywhere. */
  writesAt: number | null = null;
  private readonly looks: NodeJS.Timeout;

  constructor(private readonly places: readonly Place[]) {
    this.open = places.map(() => 0);
    this.looks = setInterval(() => void this.look(), READY_EVERY_MS);
  }

  /** The answer of a ready gateway, and its place. Another place than `except`, if one is ready. */
  async send(what: Seen['what'], send: Send, except = -1) {
    const place = await eventually('a gateway is ready', () => this.choose(what, except), 60_000);
    const beganMs = performance.now();
    const count = (by: number) => {
      this.open[place] = (this.open[place] ?? 0) + by;
    };
    count(1);
    const answer = await send((this.places[place] as Place).url).catch(() => null);
    count(-1);
    const isRefused = answer !== null && (answer.body?.errors?.[0]?.extensions?.status ?? answer.status);
    const status = Number(isRefused || 0);
    const message = status >= 400 ? String(answer?.text).slice(0, 160) : '';
    this.seen.push({ beganMs, endedMs: performance.now(), status, what, place, message });
    return { answer, status, place };
  }

  close(): void {
    clearInterval(this.looks);
  }

  private choose(what: Seen['what'], except: number): number | undefined {
    if (what === 'write' && this.writesAt !== null) return this.writesAt;
    this.turn += 1;
    const others = this.ready.filter((place) => place !== except);
    const ready = others.length > 0 ? others : this.ready;
    const fewest = Math.min(...ready.map((place) => this.open[place] ?? 0));
    const choice = ready.filter((place) => this.open[place] === fewest);
    return choice[this.turn % choice.length];
  }

  private async look(): Promise<void> {
    const isReady = (url: string) =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    await Promise.all(
      this.places.map(async ({ url }, place) => {
        const isIn = await isReady(url);
        const others = this.ready.filter((each) => each !== place);
        this.ready = isIn ? [...others, place].sort() : others;
      }),
    );
  }
}

/** Clients of one project: writers who read what they wrote at another gateway, and one who follows its changes. */
export class ProjectLoad {
  /** The names of the toys that must be there: all acknowledged changes, and no others. */
  readonly names = new Set<string>();
  /** Each acknowledged change, as `CREATED Rex`. No two are the same, and the changes of one toy are in their order. */
  readonly acknowledged: string[] = [];
  /** As `acknowledged`, in the order in which the follower received them. */
  readonly followed: string[] = [];
  readonly stale: string[] = [];
  private cursor: string | null = null;
  private isOver = false;
  private areWritten = false;
  private readonly writing: Promise<unknown>;
  private readonly following: Promise<void>;

  constructor(
    private readonly balancer: Balancer,
    readonly token: string,
    private readonly writers: { count: number; pauseMs: number },
  ) {
    this.writing = Promise.all(Array.from({ length: writers.count }, (_, at) => this.write(`w${at}`)));
    this.following = this.follow();
  }

  /** Each begun write is repeated until it is acknowledged, and followed. */
  async end(): Promise<void> {
    this.isOver = true;
    await this.writing;
    this.areWritten = true;
    await this.following;
  }

  private async write(writer: string): Promise<void> {
    for (let number = 0; !this.isOver; number += 1) {
      const name = `${writer} ${number}`;
      const { id, place } = await this.create(name);
      this.names.add(name);
      await this.expectAt(place, id, name);
      // GraphQL has limits for each minute, REST has none.
      if (number % 4 === 0) await this.changeAgain(id, name, number % 8 === 0);
      await pause(this.writers.pauseMs * (0.5 + Math.random()));
    }
  }

  private async changeAgain(id: string, before: string, isDeleted: boolean): Promise<void> {
    const name = `${before} changed`;
    const updated = await this.change('UPDATED', name, UPDATE, { id, name });
    this.names.delete(before);
    this.names.add(name);
    await this.expectAt(updated.place, id, name);
    if (!isDeleted) return;
    const deleted = await this.change('DELETED', name, DELETE, { id });
    this.names.delete(name);
    await this.expectAt(deleted.place, id, null);
  }

  private create(name: string) {
    const body = { name, categoryId: 1 };
    const send = (url: string, headers: Headers) =>
      rest(url, '/v1/toys', { method: 'POST', token: this.token, headers, body });
    return this.untilDone(`CREATED ${name}`, send, ({ body: toy }) => String(toy.id));
  }

  private change(kind: string, name: string, query: string, variables: Record<string, string>) {
    const send = (url: string, headers: Headers) =>
      graphql(url, query, { token: this.token, headers, variables });
    return this.untilDone(`${kind} ${name}`, send, ({ body }) => body.data.toy.id);
  }

  /** As clients do: the same Idempotency-Key until there is an answer. */
  private async untilDone(
    change: string,
    send: (url: string, headers: Headers) => Promise<SomeAnswer>,
    idIn: (answer: SomeAnswer) => string,
  ) {
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const { answer, status, place } = await this.balancer.send('write', (url) => send(url, headers));
      if (answer && status >= 200 && status < 300) {
        this.acknowledged.push(change);
        return { id: idIn(answer), place };
      }
      // 409: the first attempt is still running.
      if (status !== 0 && status !== 409 && status < 500) throw new Error(`${change}: ${answer?.text}`);
      await pause(REPEAT_EVERY_MS);
    }
  }

  /** The toy, and a list of toys, at another gateway than the one of the write. Null = it was deleted. */
  private async expectAt(writtenAt: number, id: string, name: string | null): Promise<void> {
    const { token } = this;
    const one = await this.balancer.send('read', (url) => rest(url, `/v1/toys/${id}`, { token }), writtenAt);
    if ((one.status === 200 || one.status === 404) && (one.answer?.body.name ?? null) !== name)
      this.stale.push(`${name} at ${one.place}: ${one.answer?.text}`);
    const many = await this.balancer.send('read', (url) => graphql(url, LIST, { token }), writtenAt);
    if (many.status !== 200) return;
    const listed = many.answer?.body.data.toys.nodes.find((toy: { id: string }) => toy.id === id);
    if ((listed?.name ?? null) !== name)
      this.stale.push(`${name} in the list of ${many.place}: ${listed?.name}`);
  }

  private async follow(): Promise<void> {
    const { token } = this;
    let last = -1;
    for (let isFollowed = false; !isFollowed; ) {
      const variables = { after: this.cursor };
      const wereWritten = this.areWritten;
      const { answer, status, place } = await this.balancer.send(
        'follow',
        (url) => graphql(url, CHANGES, { token, variables }),
        last,
      );
      last = place;
      const page = status === 200 ? answer?.body.data.toyChanges : null;
      this.followed.push(...(page?.nodes ?? []).map(inWords));
      this.cursor = page?.pageInfo.endCursor ?? this.cursor;
      isFollowed = wereWritten && page?.nodes.length === 0;
      await pause(this.writers.pauseMs);
    }
  }
}

interface Change {
  kind: string;
  toy: { name: string };
}

function inWords({ kind, toy }: Change): string {
  return `${kind} ${toy.name}`;
}

/** The changes from the oldest to the newest, as this gateway has them. */
export async function changesAt(url: string, token: string): Promise<string[]> {
  const changes: string[] = [];
  for (let after: string | null = null; ; ) {
    const { body } = await graphql(url, CHANGES, { token, variables: { after } });
    const { nodes, pageInfo } = body.data.toyChanges;
    if (nodes.length === 0) return changes;
    changes.push(...nodes.map(inWords));
    after = pageInfo.endCursor;
  }
}
