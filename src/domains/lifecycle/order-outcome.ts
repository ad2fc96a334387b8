import { MINUTE_MS } from '../../ground/kernel/duration.js';
import type { Certificate } from '../certificates/store/certificate.store.js';
import { type Diagnosis, fitForStorage, MAX_DIAGNOSES } from '../diagnosis/diagnosis.js';
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
  const delayed = delayedCertificate(domain, found, atMs, { retryAtMs: nextMs, acts: ACTS });
  const warning = certificateEndsAtMs === null ? delayed : atRisk(certificateEndsAtMs, found, nextMs);
  // The older certificate is still served, so nothing is broken yet.
  const isCertificateValid = certificateEndsAtMs !== null && certificateEndsAtMs > atMs;
  const reasons = isCertificateValid ? found.map((one) => ({ ...one, severity: 'WARNING' as const })) : found;
  const diagnoses = warning ? [...reasons, warning] : [...reasons];
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

/** The warning for a domain that has waited 30 minutes or longer for its first certificate; otherwise null. */
function delayedCertificate(
  domain: Domain,
  found: readonly Diagnosis[],
  atMs: number,
  { retryAtMs = domain.nextOrderAtMs, acts = '' } = {},
): Diagnosis | null {
  if (domain.dns !== 'MATCHES' || domain.certificateId !== null || domain.suspendedAtMs !== null) return null;
  const { verifiedAtMs } = domain;
  if (verifiedAtMs === null || atMs - verifiedAtMs < OVERDUE_MS) return null;
  const minutes = Math.round((atMs - verifiedAtMs) / MINUTE_MS);
  const cause = `There is no certificate ${minutes} minutes after DNS was right.${acts}`;
  return { ...adviceOf(found, retryAtMs), code: 'CERTIFICATE_DELAYED', cause };
}

/** Spec: Custom domains 9. */
const ACTS = ' DNS and CAA were checked again, and a new attempt was made.';

function atRisk(certificateEndsAtMs: number, found: readonly Diagnosis[], retryAtMs: number): Diagnosis {
  const ends = new Date(certificateEndsAtMs).toISOString();
  const cause = `The current certificate expires at ${ends} and could not be renewed.`;
  return { ...adviceOf(found, retryAtMs), code: 'RENEWAL_AT_RISK', cause };
}

function adviceOf([first]: readonly Diagnosis[], retryAtMs: number | null) {
  return {
    severity: 'WARNING' as const,
    actor: first?.actor ?? ('PLATFORM' as const),
    remedy: first?.remedy ?? 'Nothing: we retry automatically.',
    retryAtMs,
    evidence: [],
  };
}

/** The findings about a domain, DNS first; at most `MAX_DIAGNOSES`. */
export function diagnosesOf(domain: Domain, atMs: number): Diagnosis[] {
  const { dnsDiagnoses, orderDiagnoses } = domain;
  const isTold = orderDiagnoses.some(({ code }) => code === 'CERTIFICATE_DELAYED');
  const delayed = isTold ? null : delayedCertificate(domain, orderDiagnoses, atMs);
  return [...dnsDiagnoses, ...orderDiagnoses, ...(delayed ? [delayed] : [])].slice(0, MAX_DIAGNOSES);
}
