import { AcmeClient } from '../domains/certificates/acme/acme-client.js';
import { CertificateAuthority } from '../domains/certificates/certificate-authority.js';
import { CertificateStore } from '../domains/certificates/store/certificate.store.js';
import { Challenges } from '../domains/certificates/store/challenges.js';
import { Sealer } from '../domains/certificates/store/sealer.js';
import { inspect } from '../domains/diagnosis/diagnose.js';
import { NameServers } from '../domains/dns/name-servers.js';
import { Resolver } from '../domains/dns/resolver.js';
import { DomainCheck } from '../domains/lifecycle/domain-check.js';
import { DomainClaims } from '../domains/lifecycle/domain-claims.js';
import { DomainIssuance } from '../domains/lifecycle/domain-issuance.js';
import { DomainWorker } from '../domains/lifecycle/domain-worker.js';
import { ProjectDomains } from '../domains/project-domains.js';
import { DomainStore } from '../domains/store/domain.store.js';
import { DomainEvent, EVENT_RETENTION, type OnDomainEvent } from '../domains/store/timeline.js';
import type { Config } from '../ground/config/config.js';
import type { Database } from '../ground/database/database.js';
import { Retention } from '../ground/database/retention.js';
import type { Tracer } from '../request/tracing/tracer.js';
import { platformNames } from './addresses.js';
import type { Services } from './services.js';

interface CustomDomainParts {
  config: Config;
  db: Database;
  services: Pick<Services, 'ids' | 'audit' | 'idempotency' | 'signals'>;
  now: () => number;
  log?: { warn(details: object, message: string): void };
  /** Calls the work; with tracing, in a span. */
  withinTask?: Tracer['withinTask'];
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
  now,
  log = { warn() {} },
  withinTask = (_name, _attributes, run) => run(),
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
        withinTask('DNS check', { 'petstore.domain': subject.hostname }, () => inspect(dns, subject, signal)),
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
          const attributes = { 'petstore.domain': hostname, 'petstore.order': replaces ? 'renewal' : 'new' };
          return withinTask('ACME order', attributes, () => authority.order(request, hooks));
        },
        certificates,
        ask: (question, asker) => resolver.ask(question, { asker }),
        platformHost,
      },
      now,
    );
  const worker = new DomainWorker({ db, check, issuance }, log, now);
  const { aliases } = platformNames(config);
  const claims = new DomainClaims({ db, store, check, certificates, audit }, [platformHost, ...aliases], now);
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
