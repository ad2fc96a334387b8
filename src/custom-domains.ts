import type { AuditLog } from './audit/audit-log.js';
import { AcmeClient } from './certificates/acme-client.js';
import { CertificateStore } from './certificates/certificate.store.js';
import { CertificateAuthority } from './certificates/certificate-authority.js';
import { OpenChallenges } from './certificates/open-challenges.js';
import { Sealer } from './certificates/sealer.js';
import type { Config } from './config.js';
import type { Database } from './database/database.js';
import { NameServers } from './dns/name-servers.js';
import { Resolver } from './dns/resolver.js';
import { ChangeSignal } from './domains/change-signal.js';
import { DomainService } from './domains/domain.service.js';
import { DomainStore } from './domains/domain.store.js';
import { DomainAttachment } from './domains/domain-attachment.js';
import { DomainCheck } from './domains/domain-check.js';
import { DomainIssuance } from './domains/domain-issuance.js';
import { DomainLeases } from './domains/domain-lease.js';
import { DomainRemoval } from './domains/domain-removal.js';
import { DomainSuspension } from './domains/domain-suspension.js';
import { DomainWorker } from './domains/domain-worker.js';
import { Inspector } from './domains/inspector.js';
import { OwnerLooks } from './domains/owner-looks.js';
import { RemovedDomains } from './domains/removed-domains.js';
import { type OnDomainEvent, Timeline } from './domains/timeline.js';
import type { IdGenerator } from './ids.js';
import type { ProjectService } from './projects/project.service.js';

interface CustomDomainParts {
  config: Config;
  db: Database;
  services: { projects: ProjectService; ids: IdGenerator; audit: AuditLog };
  log: { warn(details: object, message: string): void };
  onEvent: OnDomainEvent;
  /** Told when serving has changed, here or elsewhere. */
  onChange(): Promise<void>;
  now: () => number;
}

export type CustomDomains = ReturnType<typeof createCustomDomains>;

/** Everything about custom domains, made once. Nothing runs before `start`. */
export function createCustomDomains({
  config,
  db,
  services,
  log,
  onEvent,
  onChange,
  now,
}: CustomDomainParts) {
  const { projects, ids, audit } = services;
  const { platformHost } = config;
  const sealer = new Sealer(config.secretKeys);
  const certificates = new CertificateStore(db, ids);
  const store = new DomainStore(db, ids, new Timeline(ids, now, onEvent), now);
  const signal = new ChangeSignal(config.redisUrl, onChange);
  const resolver = new Resolver(config.dnsServers, now);
  const inspector = new Inspector(resolver, new NameServers(resolver, config, now), platformHost, now);

  const looks = new OwnerLooks();
  const check = new DomainCheck({ store, projects, inspector, looks, onDue: () => worker.kick() }, now);
  const authority =
    config.acme && new CertificateAuthority(new AcmeClient(config.acme, now), db, sealer, { ids, now });
  const challenges = new OpenChallenges(db, now);
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
        certificates,
        ask: (question, signal) => resolver.ask(question, { signal }),
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
  return {
    attachment: new DomainAttachment(
      { store, projects, inspector, looks, removal, audit },
      ownHosts(config),
      now,
    ),
    domains: new DomainService({ store, audit, announce }, platformHost),
    removal,
    /** Whether TLS ends in this process, with the certificates ordered here. */
    endsTls: config.httpsPort !== 0,
    check,
    certificates,
    authority,
    sealer,
    challengeAnswer: (token: string, hostname: string) => challenges.answer(token, hostname),
    /** Deletes some of the rows that are of no use any more. */
    sweep: () => Promise.all([removed.sweep(), authority?.sweep()]),
    /** Follows the changes of other processes, and does what is due. */
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

/** Names that no project can attach, nor anything below them. */
function ownHosts({ platformHost, publicBaseUrl, stagingBaseUrl }: Config): string[] {
  const ofBases = [publicBaseUrl, stagingBaseUrl].flatMap((url) =>
    url === null ? [] : [new URL(url).hostname],
  );
  return [platformHost, ...ofBases];
}
