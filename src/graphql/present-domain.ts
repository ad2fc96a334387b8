import type { CertificateFacts } from '../certificates/certificate.entity.js';
import type { Diagnosis } from '../domains/diagnosis.js';
import type { DnsRecord } from '../domains/dns-records.js';
import type { Domain } from '../domains/domain.entity.js';
import { type ConfiguredDomains, diagnosesOf } from '../domains/domain.service.js';
import { exampleOf } from '../domains/domain-config.js';
import type { DomainEvent } from '../domains/domain-event.entity.js';
import { isServing, statusOf } from '../domains/domain-status.js';
import type {
  CertificateType,
  DiagnosisType,
  DomainEventType,
  DomainsType,
  DomainType,
} from './domain.type.js';

const date = (atMs: number | null) => (atMs === null ? null : new Date(atMs));

export function presentDomain(
  domain: Domain,
  instructions: readonly DnsRecord[],
  { atMs, endsTls }: { atMs: number; endsTls: boolean },
): DomainType {
  const { id, hostname, redirectTo, redirectStatus } = domain;
  return {
    id: String(id),
    hostname,
    status: statusOf(domain, atMs),
    serving: isServing(domain, { atMs, endsTls }),
    primary: domain.isPrimary === 1,
    redirect: redirectTo === null ? null : { from: hostname, to: redirectTo, status: redirectStatus ?? 301 },
    instructions: instructions.map(({ type, name, value, ttlSeconds }) => ({
      type,
      name,
      value,
      ttl: ttlSeconds,
    })),
    diagnoses: diagnosesOf(domain, atMs).map(presentDiagnosis),
    checkedAt: date(domain.checkedAtMs),
    nextCheckAt: date(domain.nextCheckAtMs),
    nextOrderAt: date(domain.nextOrderAtMs),
    createdAt: new Date(domain.createdAtMs),
  };
}

export function presentCertificate(certificate: CertificateFacts, renewAtMs: number | null): CertificateType {
  const { issuer, serialNumber, notBeforeMs, notAfterMs } = certificate;
  return {
    issuer,
    serialNumber,
    notBefore: new Date(notBeforeMs),
    notAfter: new Date(notAfterMs),
    renewAt: date(renewAtMs),
  };
}

/** What is not asked for is not made: a timeline may be shown by many aliases. A class, as in `pet.type.ts`. */
class PresentedEvent implements DomainEventType {
  constructor(private readonly event: DomainEvent) {}

  get at() {
    return new Date(this.event.atMs);
  }

  get name() {
    return this.event.name;
  }

  get message() {
    return this.event.message;
  }

  get diagnoses() {
    return (JSON.parse(this.event.diagnoses) as Diagnosis[]).map(presentDiagnosis);
  }
}

export function presentDomainEvent(event: DomainEvent): DomainEventType {
  return new PresentedEvent(event);
}

export function presentDomains({ config, effects, isApplied }: ConfiguredDomains): DomainsType {
  return {
    primary: config.primary,
    redirects: config.redirects,
    effects: effects.map((effect) => ({ ...effect, example: exampleOf(effect) })),
    applied: isApplied,
  };
}

function presentDiagnosis({ retryAtMs, evidence, ...diagnosis }: Diagnosis): DiagnosisType {
  return {
    ...diagnosis,
    retryAt: date(retryAtMs),
    evidence: evidence.map(({ server, question, answer, ttlSeconds, atMs }) => ({
      server,
      question,
      answer,
      ttl: ttlSeconds,
      at: new Date(atMs),
    })),
  };
}
