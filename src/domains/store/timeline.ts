import type { EntityManager } from 'typeorm';
import { withDrawnIds } from '../../database/drawn-id.js';
import type { IdGenerator } from '../../kernel/ids.js';
import { type Diagnosis, fitForStorage } from '../diagnosis/diagnosis.js';
import type { Domain } from './domain.entity.js';
import { DomainEvent } from './domain-event.entity.js';

/** Small, because a domain keeps up to 200 events. */
const MAX_DIAGNOSES_BYTES = 8_000;
const MAX_MESSAGE_CHARACTERS = 2_000;

export const DOMAIN_EVENTS = [
  'domain.added',
  'domain.moved',
  'domain.verified',
  'domain.check_failed',
  'domain.drifted',
  'domain.recovered',
  'domain.ownership_contested',
  'domain.suspended',
  'domain.resumed',
  'domain.configured',
  'domain.removed',
  'certificate.ordered',
  'certificate.issued',
  'certificate.renewed',
  'certificate.order_failed',
  'certificate.renewal_failed',
  'certificate.overdue',
] as const;

type DomainEventName = (typeof DOMAIN_EVENTS)[number];

export interface Happening {
  name: DomainEventName;
  /** A sentence for people. */
  message: string;
  diagnoses?: readonly Diagnosis[];
}

/** An event and its domain. */
export interface Entry {
  domain: Pick<Domain, 'id' | 'hostname'>;
  happening: Happening;
}

/** Called for each committed event, for the log and the metrics. */
export type OnDomainEvent = (event: { name: DomainEventName; hostname: string; message: string }) => void;

/** Records the events of each domain, for its owner to read. */
export class Timeline {
  private readonly pending = new WeakMap<EntityManager, Parameters<OnDomainEvent>[0][]>();

  constructor(
    private readonly ids: IdGenerator,
    private readonly now: () => number,
    private readonly onEvent: OnDomainEvent,
  ) {}

  /** Joins the caller's transaction, so that every change has its entry. One statement. */
  async record(manager: EntityManager, entries: readonly Entry[]): Promise<void> {
    if (entries.length === 0) return;
    const atMs = this.now();
    const events = entries.map(({ domain, happening: { name, message, diagnoses = [] } }) => ({
      domainId: domain.id,
      atMs,
      name,
      message: message.slice(0, MAX_MESSAGE_CHARACTERS),
      diagnoses: fitForStorage(diagnoses, MAX_DIAGNOSES_BYTES),
    }));
    await withDrawnIds(this.ids, entries.length, (ids) =>
      manager.insert(
        DomainEvent,
        events.map((event, index) => ({ id: ids[index] as bigint, ...event })),
      ),
    );
    const told = entries.map(({ domain: { hostname }, happening: { name, message } }) => ({
      name,
      hostname,
      message,
    }));
    this.pending.set(manager, [...(this.pending.get(manager) ?? []), ...told]);
  }

  /** Reports the events of a committed transaction. The events of a rolled-back transaction are never reported. */
  committed(manager: EntityManager): void {
    for (const event of this.pending.get(manager) ?? []) this.onEvent(event);
  }
}
