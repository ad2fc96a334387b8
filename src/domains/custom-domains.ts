import type { Config } from '../ground/config/config.js';
import type { Database } from '../ground/database/database.js';
import { Retention } from '../ground/database/retention.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import type { ProjectSignals } from '../ground/records/project-signals.js';
import type { AuditLog } from '../tenants/audit/audit-log.js';
import type { IdempotencyService } from '../tenants/idempotency/idempotency.service.js';
import { AcmeClient } from './certificates/acme/acme-client.js';
import { CertificateAuthority } from './certificates/certificate-authority.js';
import { CertificateStore } from './certificates/store/certificate.store.js';
import { Challenges } from './certificates/store/challenges.js';
import { Sealer } from './certificates/store/sealer.js';
import { inspect } from './diagnosis/diagnose.js';
import { NameServers } from './dns/name-servers.js';
import { Resolver } from './dns/resolver.js';
import { DomainCheck } from './lifecycle/domain-check.js';
import { DomainClaims } from './lifecycle/domain-claims.js';
import { DomainIssuance } from './lifecycle/domain-issuance.js';
import { DomainWorker } from './lifecycle/domain-worker.js';
import { ProjectDomains } from './project-domains.js';
import { DomainStore } from './store/domain.store.js';
import { DomainEvent, EVENT_RETENTION, type OnDomainEvent } from './store/timeline.js';

export interface CustomDomainParts {
  config: Config;
  db: Database;
  services: { ids: IdGenerator; audit: AuditLog; idempotency: IdempotencyService; signals: ProjectSignals };
  /** The platform's own hosts. They and all names below them are never attached. */
  ownHosts: readonly string[];
  now: () => number;
  log?: { warn(details: object, message: string): void };
  /** Calls the work; with tracing, in a span. */
  withinTask?<T>(
    name: string,
    facts: { domain: string; order?: 'renewal' | 'new' },
    run: () => Promise<T>,
  ): Promise<T>;
  onEvent?: OnDomainEvent;
  /** Called when this process has changed the served hosts. */
  syncHosts?(): Promise<void>;
}

export type CustomDomains = ReturnType<typeof createCustomDomains>;

/** Creates all parts of custom domains. Nothing runs before `start`. */
export function createCustomDomains({
  config,
  db,
  services,
  ownHosts,
  now,
  log = { warn() {} },
  withinTask = (_name, _facts, run) => run(),
  onEvent = () => {},
  syncHosts = async () => {},
}: CustomDomainParts) {
  const { ids, audit, idempotency, signals } = services;
  const { platformHost } = config;
  const sealer = new Sealer(config.secretKeys);
  const certificates = new CertificateStore(db, ids);
  const onChange = (projectId: bigint) => signals.send(projectId, 'domains');
  const store = new DomainStore(db, ids, { onEvent, onChange, syncHosts }, now);
  const events = new Retention(db, DomainEvent, EVENT_RETENTION, now);
  const resolver = new Resolver(config.dnsServers, now);
  const nameServers = new NameServers(resolver, config, now);
  const dns = { resolver, nameServers, platformHost, now };
  const check = new DomainCheck(
    {
      store,
      inspect: (subject, signal) =>
        withinTask('DNS check', { domain: subject.hostname }, () => inspect(dns, subject, signal)),
      onDue: () => worker.kick(),
    },
    now,
  );
  const challenges = new Challenges(db, now);
  const authority =
    config.acme && new CertificateAuthority(new AcmeClient(config.acme, now), { db, ids, sealer }, { now });
  const issuance =
    authority &&
    new DomainIssuance(
      {
        db,
        store,
        check,
        authority,
        order: (request, hooks) => {
          const { hostname, replaces } = request;
          const facts = { domain: hostname, order: replaces ? 'renewal' : 'new' } as const;
          return withinTask('ACME order', facts, () => authority.order(request, hooks));
        },
        certificates,
        ask: (question, asker) => resolver.ask(question, { asker }),
        platformHost,
      },
      now,
    );
  const worker = new DomainWorker({ db, check, issuance }, log, now);
  const claims = new DomainClaims({ db, store, check, certificates, audit }, ownHosts, now);
  return {
    ofProject: new ProjectDomains({ store, claims, check, certificates, audit, idempotency }, platformHost),
    /** Whether this process terminates TLS, with the certificates that it orders. */
    endsTls: config.httpsPort !== 0,
    certificates,
    sealer,
    challengeAnswer: (token: string, hostname: string) => challenges.answer(token, hostname),
    /** Deletes some of the rows that are no longer needed. */
    deleteOldRows: () =>
      Promise.all([store.deleteRemoved(), events.deleteOldRows(), authority?.deleteExpiredRows()]),
    start: () => worker.start(),
    stop: () => worker.stop(),
  };
}
