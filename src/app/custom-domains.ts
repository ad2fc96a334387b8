import { setTimeout as sleep } from 'node:timers/promises';
import { AcmeClient } from '../domains/certificates/acme/acme-client.js';
import { CertificateAuthority } from '../domains/certificates/certificate-authority.js';
import { AcmeAccounts } from '../domains/certificates/orders/acme-accounts.js';
import { OrderFlow, type Wait } from '../domains/certificates/orders/order-flow.js';
import { OrderLog } from '../domains/certificates/orders/order-log.js';
import type { Random } from '../domains/certificates/orders/renewal.js';
import { CertificateStore } from '../domains/certificates/store/certificate.store.js';
import { Challenges } from '../domains/certificates/store/challenges.js';
import { Sealer } from '../domains/certificates/store/sealer.js';
import { Inspector } from '../domains/diagnosis/inspector.js';
import { NameServers } from '../domains/dns/name-servers.js';
import { Resolver } from '../domains/dns/resolver.js';
import { DomainService } from '../domains/domain.service.js';
import { ChangeSignal } from '../domains/hosts/change-signal.js';
import { DomainAttachment } from '../domains/lifecycle/domain-attachment.js';
import { DomainCheck, OwnerChecks } from '../domains/lifecycle/domain-check.js';
import { DomainIssuance } from '../domains/lifecycle/domain-issuance.js';
import { DomainLeases } from '../domains/lifecycle/domain-lease.js';
import { DomainRemoval, RemovedDomains } from '../domains/lifecycle/domain-removal.js';
import { DomainSuspension } from '../domains/lifecycle/domain-suspension.js';
import { DomainWorker } from '../domains/lifecycle/domain-worker.js';
import { ProjectDomains } from '../domains/project-domains.js';
import { DomainStore } from '../domains/store/domain.store.js';
import { type OnDomainEvent, Timeline } from '../domains/store/timeline.js';
import type { Config } from '../ground/config/config.js';
import type { Database } from '../ground/database/database.js';
import type { IdGenerator } from '../ground/kernel/ids.js';
import type { Tracer } from '../request/tracing/tracer.js';
import type { Services } from './services.js';

interface CustomDomainParts {
  config: Config;
  db: Database;
  services: Pick<Services, 'projects' | 'ids' | 'audit' | 'idempotency'>;
  now: () => number;
  log?: { warn(details: object, message: string): void };
  /** Calls the work; with tracing, in a span. */
  withinTask?: Tracer['withinTask'];
  onEvent?: OnDomainEvent;
  /** Called when this process or another one has changed the served hosts. */
  onChange?(): Promise<void>;
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
  onChange = async () => {},
}: CustomDomainParts) {
  const { projects, ids, audit, idempotency } = services;
  const { platformHost } = config;
  const sealer = new Sealer(config.secretKeys);
  const certificates = new CertificateStore(db, ids);
  const store = new DomainStore(db, ids, new Timeline(ids, now, onEvent), now);
  const signal = new ChangeSignal(config.redisUrl, onChange);
  const resolver = new Resolver(config.dnsServers, now);
  const inspector = new Inspector(resolver, new NameServers(resolver, config, now), platformHost, now);

  const ownerChecks = new OwnerChecks();
  const check = new DomainCheck(
    {
      store,
      projects,
      inspect: (subject, signal) =>
        withinTask('DNS check', { 'petstore.domain': subject.hostname }, () =>
          inspector.inspect(subject, signal),
        ),
      ownerChecks,
      onDue: () => worker.kick(),
    },
    now,
  );
  const authority =
    config.acme &&
    createCertificateAuthority({ client: new AcmeClient(config.acme, now), db, sealer, ids, now });
  const challenges = new Challenges(db, now);
  const announce = () => signal.announce();
  const issuance =
    authority &&
    new DomainIssuance(
      {
        store,
        leases: new DomainLeases(db, now),
        check,
        projects,
        authority,
        order: (request, hooks) => {
          const { hostname, resume, replaces } = request;
          const reason = resume ? 'resumed' : replaces ? 'renewal' : 'new';
          const attributes = { 'petstore.domain': hostname, 'petstore.order': reason };
          return withinTask('ACME order', attributes, () => authority.order(request, hooks));
        },
        certificates,
        ask: (question, asker) => resolver.ask(question, { asker }),
        platformHost,
        announce,
      },
      now,
    );
  const suspension = new DomainSuspension(db, store, now);
  const removal = new DomainRemoval(
    { store, certificates, audit, announce, onGone: (id) => issuance?.cancel(id) },
    now,
  );
  const removed = new RemovedDomains(db, now);
  const worker = new DomainWorker({ db, store, check, issuance, suspension }, log, now);
  const attachment = new DomainAttachment(
    { store, projects, inspector, ownerChecks, removal, audit },
    ownHosts(config),
    now,
  );
  const domains = new DomainService({ store, audit, announce }, platformHost);
  return {
    store,
    attachment,
    domains,
    /** The acts of owners, which check the scope of their key. */
    ofProject: new ProjectDomains({ store, domains, attachment, check, removal, certificates }, idempotency),
    removal,
    /** Whether this process terminates TLS, with the certificates that it orders. */
    endsTls: config.httpsPort !== 0,
    check,
    certificates,
    authority,
    sealer,
    challengeAnswer: (token: string, hostname: string) => challenges.answer(token, hostname),
    /** Deletes some of the rows that are no longer needed. */
    deleteOldRows: () => Promise.all([removed.deleteOldDomains(), authority?.deleteExpiredRows()]),
    /** Listens for changes by other processes, and runs due work. */
    start: () => {
      signal.listen();
      worker.start();
    },
    stop: async () => {
      await worker.stop();
      authority?.close();
      await signal.close();
    },
  };
}

/** Host names that no project can attach, including their subdomains. */
function ownHosts({ platformHost, publicBaseUrl, stagingBaseUrl }: Config): string[] {
  const ofBases = [publicBaseUrl, stagingBaseUrl].flatMap((url) =>
    url === null ? [] : [new URL(url).hostname],
  );
  return [platformHost, ...ofBases];
}

interface CertificateAuthorityParts {
  client: AcmeClient;
  db: Database;
  sealer: Sealer;
  ids: IdGenerator;
  now: () => number;
  random?: Random;
  /** Between two polls of an order. */
  wait?: Wait;
  /** The timeout of a whole order. */
  timeoutMs?: number;
}

/** The certificate authority with its accounts, orders and challenges. */
export function createCertificateAuthority({
  client,
  db,
  sealer,
  ids,
  now,
  random = Math.random,
  wait = (ms, signal) => sleep(ms, undefined, { signal }),
  ...settings
}: CertificateAuthorityParts): CertificateAuthority {
  const accounts = new AcmeAccounts(client, db, sealer, now);
  const challenges = new Challenges(db, now);
  const log = new OrderLog(db, ids, client.settings.limits, now);
  const flow = new OrderFlow(client, challenges, wait);
  return new CertificateAuthority(
    { client, accounts, flow, log, challenges, sealer },
    { now, random, ...settings },
  );
}
