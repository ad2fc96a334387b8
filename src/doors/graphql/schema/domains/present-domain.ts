import type { CertificateFacts } from '../../../../domains/certificates/store/certificate.store.js';
import { type Diagnosis, MAX_DIAGNOSES, MAX_EVIDENCE } from '../../../../domains/diagnosis/diagnosis.js';
import {
  type ConfiguredDomains,
  diagnosesOf,
  type RecordToCreate,
} from '../../../../domains/domain.service.js';
import { exampleOf } from '../../../../domains/domain-config.js';
import type { Domain } from '../../../../domains/store/domain.entity.js';
import { isServing, statusOf } from '../../../../domains/store/domain-status.js';
import type { DomainEvent } from '../../../../domains/store/timeline.js';
import type { DiagnosisType } from './diagnosis.type.js';
import type { CertificateType, DomainEventType, DomainsType, DomainType } from './domain.type.js';

const date = (atMs: number | null) => (atMs === null ? null : new Date(atMs));

interface Seen {
  atMs: number;
  endsTls: boolean;
}

export function presentDomain(
  domain: Domain,
  instructionsOf: (domain: Domain) => readonly RecordToCreate[],
  seen: Seen,
): DomainType {
  const { id, hostname, redirectTo, redirectStatus } = domain;
  const plain = {
    id: String(id),
    hostname,
    status: statusOf(domain, seen.atMs),
    serving: isServing(domain, seen),
    primary: domain.isPrimary,
    redirect: redirectTo === null ? null : { from: hostname, to: redirectTo, status: redirectStatus ?? 301 },
    checkedAt: date(domain.checkedAtMs),
    nextCheckAt: date(domain.nextCheckAtMs),
    nextOrderAt: date(domain.nextOrderAtMs),
    createdAt: new Date(domain.createdAtMs),
  };
  // Mapped from up to 40 KB of findings, once, and only on demand.
  const instructions = lazy(() => instructionsOf(domain).map(presentRecord));
  const diagnoses = lazy(() => presentDiagnoses(diagnosesOf(domain, seen.atMs)));
  return {
    ...plain,
    get instructions() {
      return instructions();
    },
    get diagnoses() {
      return diagnoses();
    },
  };
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function presentRecord({ type, name, label, value, ttlSeconds }: RecordToCreate) {
  return { type, name, label, value, ttl: ttlSeconds };
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

/** Values are created only when they are read: many aliases may show a timeline. A class, as in `pet.type.ts`. */
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
    return presentDiagnoses(this.event.diagnoses);
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

/** A class, as `PresentedEvent`: a list of domains may have 10,000 findings, and few operations show their evidence. */
class PresentedDiagnosis implements DiagnosisType {
  readonly code: DiagnosisType['code'];
  readonly severity: DiagnosisType['severity'];
  readonly actor: DiagnosisType['actor'];
  readonly cause: string;
  readonly remedy: string;

  constructor(private readonly diagnosis: Diagnosis) {
    ({
      code: this.code,
      severity: this.severity,
      actor: this.actor,
      cause: this.cause,
      remedy: this.remedy,
    } = diagnosis);
  }

  get retryAt() {
    return date(this.diagnosis.retryAtMs);
  }

  get evidence() {
    return this.diagnosis.evidence
      .slice(0, MAX_EVIDENCE)
      .map(({ server, question, answer, ttlSeconds, atMs }) => ({
        server,
        question,
        answer,
        ttl: ttlSeconds,
        at: new Date(atMs),
      }));
  }
}

/** At most as many as the lists of the schema declare. */
function presentDiagnoses(diagnoses: readonly Diagnosis[]): DiagnosisType[] {
  return diagnoses.slice(0, MAX_DIAGNOSES).map((diagnosis) => new PresentedDiagnosis(diagnosis));
}
