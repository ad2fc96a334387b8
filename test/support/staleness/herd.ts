import type { Answered } from '../keep-alive-client.js';
import type { History, Page, Write } from './history.js';

const MAX_PETS = 40;
/** Below what a project may change over GraphQL in a minute. */
const MAX_UPDATES = 50;
const FIRST_VALUE = 1;

export interface HerdPet {
  readonly name: string;
  id: string;
  value: number;
  /** Somebody writes it, or nobody knows what became of the last write: its values come one after the other. */
  isBusy: boolean;
}

/** The pets of one project, and what was written and read of them. Each name and each category tells the value. */
export class Herd {
  readonly history: History = { writes: [], reads: [] };
  private readonly pets: HerdPet[] = [];
  private readonly pages = new Map<string, Page>();
  private created = 0;
  private updates = 0;

  constructor(readonly token: string) {}

  /** It has had as many writes as its project may have. */
  get isSpent(): boolean {
    return this.created >= MAX_PETS || this.updates >= MAX_UPDATES;
  }

  newPet(): HerdPet {
    this.created += 1;
    return { name: `pet-${this.created}`, id: '', value: FIRST_VALUE, isBusy: true };
  }

  /** One that nobody writes, for the caller to write its next value. */
  takePet(): HerdPet | null {
    const free = this.pets.filter(({ isBusy }) => !isBusy);
    const pet = free[Math.floor(Math.random() * free.length)];
    if (!pet) return null;
    this.updates += 1;
    pet.isBusy = true;
    pet.value += 1;
    return pet;
  }

  beginWrite({ name, value }: HerdPet, at: string): Write {
    const begunAt = performance.now();
    const write = { pet: name, value, begunAt, endedAt: Number.POSITIVE_INFINITY, isAcknowledged: false, at };
    this.history.writes.push(write);
    return write;
  }

  /** Null = nobody said that it was written, so nobody writes this pet any more. */
  endWrite(pet: HerdPet, write: Write, answer: Answered | null): void {
    write.endedAt = answer?.answeredAt ?? performance.now();
    if (!answer) return;
    write.isAcknowledged = true;
    if (pet.id === '') {
      const [, id] = /"id":"?(\d+)/.exec(answer.text) ?? [];
      if (id === undefined) throw new Error(`no id: ${answer.text}`);
      pet.id = id;
      this.pets.push(pet);
    }
    pet.isBusy = false;
  }

  addRead({ text, sentAt, answeredAt }: Answered, pageSize: number, at: string): void {
    // Most pages are read many times: one object for all of them.
    const key = `${pageSize} ${text}`;
    const page = this.pages.get(key) ?? pageIn(text, pageSize);
    this.pages.set(key, page);
    this.history.reads.push({ begunAt: sentAt, endedAt: answeredAt, page, at });
  }

  /** Frees what only more reads would need. */
  retire(): void {
    this.pages.clear();
  }
}

export function nameOf({ name, value }: HerdPet): string {
  return `${name} ${value}`;
}

function pageIn(text: string, pageSize: number): Page {
  const values = new Map<string, number>();
  const seen = text.matchAll(/"name":"(pet-\d+) (\d+)","categoryId":"?(\d+)/g);
  for (const [, pet, value, category] of seen) {
    if (value !== category) throw new Error(`half of a write: ${text}`);
    values.set(String(pet), Number(value));
  }
  return { values, isWhole: values.size < pageSize };
}
