import { MINUTE_MS } from '../../ground/kernel/duration.js';
import type { Certificate } from '../certificates/store/certificate.store.js';
import { type Diagnosis, type DiagnosisCode, MAX_DIAGNOSES } from '../diagnosis/diagnosis.js';
import { finding, fitForStorage } from '../diagnosis/finding.js';
import type { Domain } from '../store/domain.entity.js';
import type { Revision } from '../store/domain.store.js';
import type { Happening } from '../store/timeline.js';
import { nextOrderAtMs, OVERDUE_MS } from './back-off.js';

/** The change of a domain after a new certificate. Pure. */
export function issuedOrder({ certificateId, hostname }: Domain, certificate: Certificate): Revision {
  const until = new Date(certificate.notAfterMs).toISOString();
  return {
    changes: {
      orderState: 'ISSUED',
      failedOrders: 0,
      leaseUntilMs: 0,
      orderDiagnoses: [],
      certificateId: certificate.id,
      certificateEndsAtMs: certificate.notAfterMs,
      nextOrderAtMs: certificate.renewAtMs,
    },
    happenings: [
      {
        name: certificateId === null ? 'certificate.issued' : 'certificate.renewed',
        message: `${certificate.issuer} issued a certificate for ${hostname}, valid until ${until}.`,
      },
    ],
  };
}

/** The change of a domain after a failed order. `found` has the reasons; empty = DNS does not point here. Pure. */
export function failedOrder(domain: Domain, found: readonly Diagnosis[], atMs: number): Revision {
  const { hostname, certificateId, certificateEndsAtMs, verifiedAtMs } = domain;
  const failures = domain.failedOrders + 1;
  const retryAtMs = Math.max(0, ...found.map((diagnosis) => diagnosis.retryAtMs ?? 0)) || null;
  const nextMs = nextOrderAtMs({ failures, retryAtMs, verifiedAtMs, certificateEndsAtMs }, atMs);
  const failed = { ...domain, orderDiagnoses: [...found], nextOrderAtMs: nextMs };
  const delayed = delayedCertificate(failed, atMs, ACTS);
  const risk = certificateEndsAtMs === null ? delayed : renewalAtRisk(failed, certificateEndsAtMs);
  // The older certificate is still served, so nothing is broken yet.
  const isCertificateValid = certificateEndsAtMs !== null && certificateEndsAtMs > atMs;
  const reasons = isCertificateValid ? found.map((one) => ({ ...one, severity: 'WARNING' as const })) : found;
  const diagnoses = risk ? [...reasons, risk] : [...reasons];
  const reason = found[0]?.cause ?? 'DNS does not point here.';
  const happenings: Happening[] = [
    certificateId === null
      ? { name: 'certificate.order_failed', message: `No certificate for ${hostname}: ${reason}`, diagnoses }
      : {
          name: 'certificate.renewal_failed',
          message: `The certificate for ${hostname} was not renewed and stays in use: ${reason}`,
          diagnoses,
        },
  ];
  if (delayed && !domain.orderDiagnoses.some(({ code }) => code === delayed.code)) {
    happenings.push({ name: 'certificate.overdue', message: `${hostname}: ${delayed.cause}`, diagnoses });
  }
  return {
    changes: {
      orderState: 'FAILED',
      failedOrders: failures,
      leaseUntilMs: 0,
      orderDiagnoses: fitForStorage(diagnoses),
      nextOrderAtMs: nextMs,
    },
    happenings,
  };
}

/** Spec: Custom domains 9. */
const ACTS = ' DNS and CAA were checked again, and a new attempt was made.';

/** The warning for a domain that has waited 30 minutes or longer for its first certificate; otherwise null. */
function delayedCertificate(domain: Domain, atMs: number, acts = ''): Diagnosis | null {
  const { dns, certificateId, suspendedAtMs, verifiedAtMs } = domain;
  if (dns !== 'MATCHES' || certificateId !== null || suspendedAtMs !== null) return null;
  if (verifiedAtMs === null || atMs - verifiedAtMs < OVERDUE_MS) return null;
  const minutes = Math.round((atMs - verifiedAtMs) / MINUTE_MS);
  const cause = `There is no certificate ${minutes} minutes after DNS was right.${acts}`;
  return warning('CERTIFICATE_DELAYED', cause, domain);
}

function renewalAtRisk(domain: Domain, certificateEndsAtMs: number): Diagnosis {
  const ends = new Date(certificateEndsAtMs).toISOString();
  const cause = `The current certificate expires at ${ends} and could not be renewed.`;
  return warning('RENEWAL_AT_RISK', cause, domain);
}

/** The warning has the advice of the first reason. */
function warning(code: DiagnosisCode, cause: string, domain: Domain): Diagnosis {
  const { orderDiagnoses, nextOrderAtMs: retryAtMs } = domain;
  const { actor, remedy } = orderDiagnoses[0] ?? NO_ADVICE;
  return finding(code, [], { severity: 'WARNING', actor, cause, remedy, retryAtMs });
}

const NO_ADVICE = { actor: 'PLATFORM', remedy: 'Nothing: we retry automatically.' } as const;

/** The findings about a domain, DNS first; at most `MAX_DIAGNOSES`. */
export function diagnosesOf(domain: Domain, atMs: number): Diagnosis[] {
  const { dnsDiagnoses, orderDiagnoses } = domain;
  const isTold = orderDiagnoses.some(({ code }) => code === 'CERTIFICATE_DELAYED');
  const delayed = isTold ? null : delayedCertificate(domain, atMs);
  return [...dnsDiagnoses, ...orderDiagnoses, ...(delayed ? [delayed] : [])].slice(0, MAX_DIAGNOSES);
}
