import { setTimeout as pause } from 'node:timers/promises';
import { rest } from '../../http/client.js';
import type { ChangeKind, SeenRecord } from '../evidence.js';
import { Subscriber } from './subscriber.js';

const CHANGES_CURSOR = 'petstore-changes-cursor';
const POLL_MS = 40;

/** A toy as REST shows it. */
interface RestToy {
  readonly id: number | bigint;
  readonly name: string;
  readonly categoryId: number | bigint;
  readonly status?: string;
}

interface RestChange {
  readonly cursor: string;
  readonly kind: string;
  readonly toy: RestToy;
}

/** Follows by asking REST for the next changes again and again. */
export class RestSubscriber extends Subscriber {
  private isCut = false;
  private stalled: Promise<unknown> = Promise.resolve();

  override cut(): void {
    this.isCut = true;
  }

  override async stall(ms: number): Promise<void> {
    this.stalled = pause(ms);
    await this.stalled;
  }

  protected override async list(): Promise<boolean> {
    const { status } = this.of;
    let path: string | null = `/v1/toys?limit=100${status === null ? '' : `&status=${status}`}`;
    for (let isFirst = true; path !== null; isFirst = false) {
      const page = await this.ask(path);
      const cursor = page.headers.get(CHANGES_CURSOR);
      if (this.isOver || page.status !== 200 || cursor === null) return false;
      this.addPage(cursor, page.body.map(seenRestToy), isFirst);
      path = nextOf(page.headers);
    }
    this.counts.lists += 1;
    return true;
  }

  protected override async follow(): Promise<boolean> {
    const { status } = this.of;
    let path = `/v1/toys/changes?cursor=${this.acknowledged}${status === null ? '' : `&status=${status}`}`;
    this.isCut = false;
    this.begin();
    while (!this.isCut) {
      const page = await this.ask(path).catch(() => null);
      if (page?.status === 410) return this.addGone();
      const next = page?.status === 200 ? nextOf(page.headers) : null;
      if (!page || next === null || this.isCut) break;
      for (const { cursor, kind, toy } of page.body as RestChange[]) {
        this.addChange(cursor, kind.toUpperCase() as ChangeKind, seenRestToy(toy));
      }
      this.addExamined(new URL(next, 'http://any').searchParams.get('cursor') ?? '');
      path = next;
      await this.stalled;
      await pause(POLL_MS);
    }
    return this.end();
  }

  private ask(path: string) {
    const { project, address } = this.of;
    return rest(address(), path, { token: project.token });
  }
}

/** The record without what only GraphQL shows. */
export function withoutTime({ id, status, text }: SeenRecord): SeenRecord {
  return { id, status, text: JSON.stringify(JSON.parse(text).slice(0, 4)) };
}

function seenRestToy({ id, name, categoryId, status = null as never }: RestToy): SeenRecord {
  const state: string | null = status;
  return {
    id: String(id),
    status: state,
    text: JSON.stringify([String(id), name, String(categoryId), state]),
  };
}

/** The path of the next page. */
function nextOf(headers: Headers): string | null {
  const [, url] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return url === undefined ? null : url.replace(/^https?:\/\/[^/]+/, '');
}
