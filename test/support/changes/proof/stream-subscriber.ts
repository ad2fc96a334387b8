import { setTimeout as pause } from 'node:timers/promises';
import { graphql } from '../../http/client.js';
import type { ChangeKind } from '../evidence.js';
import { type ShownToy, seenToy, TOY_FIELDS } from './followed-project.js';
import { EventConnection, type ServerEvent } from './server-events.js';
import { Subscriber } from './subscriber.js';

const LIST = `query ($after: String, $status: ToyStatus) { toys(first: 100, after: $after, status: $status) {
  changesCursor nodes { ${TOY_FIELDS} } pageInfo { hasNextPage endCursor } } }`;
const FOLLOW = `subscription ($after: String, $status: ToyStatus) { toyChanges(after: $after, status: $status) {
  cursor kind toy { ${TOY_FIELDS} } } }`;

interface Page {
  readonly changesCursor: string | null;
  readonly nodes: readonly ShownToy[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface FollowedChange {
  readonly cursor: string;
  readonly kind: ChangeKind;
  readonly toy: ShownToy;
}

/** Follows by Server-Sent Events. */
export class StreamSubscriber extends Subscriber {
  private connection: EventConnection | null = null;

  override cut(): void {
    this.connection?.cut();
  }

  override async stall(ms: number): Promise<void> {
    const { connection } = this;
    connection?.pause();
    await pause(ms);
    connection?.resume();
  }

  protected override async list(): Promise<boolean> {
    const { project, status, address } = this.of;
    for (let after: string | null = null, isFirst = true; ; isFirst = false) {
      const answer = await graphql(address(), LIST, { token: project.token, variables: { status, after } });
      const page: Page | null = answer.body?.data?.toys ?? null;
      if (this.isOver || !page?.changesCursor) return false;
      this.addPage(page.changesCursor, page.nodes.map(seenToy), isFirst);
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    this.counts.lists += 1;
    return true;
  }

  protected override async follow(): Promise<boolean> {
    const connection = await this.connect().catch(() => null);
    this.connection = connection;
    if (!connection) return true;
    if (!connection.isStream) {
      const text = await connection.text().catch(() => '');
      this.counts.refused += 1;
      if (!text.includes('"GONE"')) return true;
      this.begin();
      return this.addGone();
    }
    this.begin();
    for await (const event of connection.events()) {
      if (event.data?.includes('"code":"GONE"')) return this.addGone();
      this.receive(event);
    }
    return this.end();
  }

  private connect(): Promise<EventConnection> {
    const { project, status, address } = this.of;
    const isResumed = this.counts.followed % 2 === 1;
    return EventConnection.open(address(), {
      token: project.token,
      query: FOLLOW,
      // The header wins.
      variables: { after: isResumed ? 'overruled' : this.acknowledged, status },
      lastEventId: isResumed ? this.acknowledged : null,
    });
  }

  private receive({ event, data, id }: ServerEvent): void {
    if (event === 'next' && data !== null) {
      const { data: result, errors } = JSON.parse(data);
      if (errors) return;
      const { cursor, kind, toy }: FollowedChange = result.toyChanges;
      if (cursor !== id) throw new Error(`the id ${id} of the change ${cursor}`);
      this.addChange(cursor, kind, seenToy(toy));
    } else if (id !== null) {
      this.addExamined(id);
    }
  }
}
