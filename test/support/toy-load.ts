import { setTimeout as pause } from 'node:timers/promises';
import { rest } from './http/client.js';
import { type Answered, KeepAliveClient, NoAnswer } from './http/keep-alive-client.js';

/** The request that a client repeats; a client with a key retries failed requests under the same Idempotency-Key. */
export type Habit =
  | 'create'
  | 'create with key'
  | 'create by both doors with key'
  | 'read'
  | 'read by GraphQL';

interface LoadAnswer extends Answered {
  habit: Habit;
  /** The error code in REST's spelling; null = success. */
  code: string | null;
}

/** Below a project's GraphQL limit for new toys in a minute; then REST continues with the same keys. */
const GRAPHQL_CREATES = 50;
/** Without it the clients of an outage use up the processors, which the rest of the run needs. */
const PAUSE_AFTER_FAILURE_MS = 100;
const CREATE = 'mutation ($name: String!) { createToy(input: { name: $name, categoryId: 1 }) { id } }';
const READ = '{ toys(first: 2) { nodes { id } } }';

/** Clients that send requests without pause, each on one connection, and their answers. */
export class ToyLoad {
  /** Acknowledged toys: ids by name. No two requests use the same name. */
  readonly acknowledged = new Map<string, string>();
  readonly answers: LoadAnswer[] = [];
  readonly failures: NoAnswer[] = [];
  private readonly keys = new Set<string>();
  private readonly loops: Promise<void>[];
  private graphqlCreates = 0;
  private isStopping = false;
  private isAbandoned = false;

  constructor(
    private readonly url: string,
    private readonly token: string,
    habits: readonly Habit[],
  ) {
    this.loops = habits.map((habit, index) => this.loop(habit, `toy-${index}`));
  }

  /** Stops new requests, and resolves when every key has its toy. */
  async settle(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.loops);
  }

  /** Stops at once, in any state. */
  abandon(): void {
    this.isStopping = true;
    this.isAbandoned = true;
  }

  /** Returns acknowledged toys and toys with a key that are not stored exactly once. Call after `settle`. */
  async findings(): Promise<{ missing: string[]; duplicate: string[] }> {
    const idsByName = new Map<string, string[]>();
    for (const { id, name } of await this.storedToys()) {
      idsByName.set(name, [...(idsByName.get(name) ?? []), String(id)]);
    }
    const promised = new Set([...this.acknowledged.keys(), ...this.keys]);
    return {
      missing: [...promised].filter((name) => {
        const ids = idsByName.get(name) ?? [];
        return !ids.includes(this.acknowledged.get(name) ?? ids[0] ?? 'none');
      }),
      duplicate: [...idsByName].filter(([, ids]) => ids.length > 1).map(([name]) => name),
    };
  }

  private async loop(habit: Habit, prefix: string): Promise<void> {
    const client = new KeepAliveClient(this.url, this.token);
    const unanswered: string[] = [];
    for (let turn = 1; !this.isStopping || (unanswered.length > 0 && !this.isAbandoned); turn += 1) {
      // New requests continue between retries: a key stays in flight for seconds after its process died.
      const repeated = this.isStopping || turn % 4 === 0 ? unanswered.shift() : undefined;
      const name = repeated ?? `${prefix}-${turn}`;
      const isDone = await this.ask(client, habit, name);
      if (!isDone && habit.endsWith('key')) unanswered.push(name);
      if (!isDone) await pause(PAUSE_AFTER_FAILURE_MS);
    }
    client.close();
  }

  /** Returns whether the request succeeded. */
  private async ask(client: KeepAliveClient, habit: Habit, name: string): Promise<boolean> {
    try {
      const answer = await this.send(client, habit, name);
      const code = errorCodeOf(answer);
      this.answers.push({ ...answer, habit, code });
      if (code !== null) return false;
      if (habit.startsWith('create')) this.acknowledged.set(name, idIn(answer));
      return true;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.failures.push(error);
      return false;
    }
  }

  private send(client: KeepAliveClient, habit: Habit, name: string): Promise<Answered> {
    const key: Record<string, string> = habit.endsWith('key') ? { 'idempotency-key': name } : {};
    if (habit.endsWith('key')) this.keys.add(name);
    const create = { method: 'POST', headers: key };
    switch (habit) {
      case 'create':
      case 'create with key':
        return client.send('/v1/toys', { ...create, body: { name, categoryId: 1 } });
      case 'create by both doors with key':
        this.graphqlCreates += 1;
        if (this.graphqlCreates > GRAPHQL_CREATES)
          return client.send('/v1/toys', { ...create, body: { name, categoryId: 1 } });
        return client.send('/graphql', { ...create, body: { query: CREATE, variables: { name } } });
      case 'read':
        return client.send('/v1/toys?limit=2');
      case 'read by GraphQL':
        return client.send('/graphql', { method: 'POST', body: { query: READ } });
    }
  }

  private async storedToys(): Promise<{ id: number | bigint; name: string }[]> {
    const toys = [];
    for (let path: string | undefined = '/v1/toys?limit=100'; path !== undefined; ) {
      const page = await rest(this.url, path, { token: this.token });
      if (page.status !== 200) throw new Error(`the list of toys was answered with ${page.status}`);
      toys.push(...page.body);
      const [, next] = /<([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
      path = next?.replace(/^https?:\/\/[^/]+/, '');
    }
    return toys;
  }
}

/** Throws if the error is not in the form of its door. */
function errorCodeOf({ status, text }: Answered): string | null {
  const body = JSON.parse(text);
  if (body.errors && !body.code) {
    const [{ message, extensions }] = body.errors;
    if (!message || !extensions.code || !extensions.status) throw new Error(`no GraphQL error: ${text}`);
    return extensions.code.toLowerCase();
  }
  if (status < 300) return null;
  if (!body.code || !body.message || body.status !== status)
    throw new Error(`no error body: ${status} ${text}`);
  return body.code;
}

function idIn({ text }: Answered): string {
  const [, id] = /"id":"?(\d+)/.exec(text) ?? [];
  if (id === undefined) throw new Error(`no id: ${text}`);
  return id;
}
