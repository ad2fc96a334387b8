import type { Diagnosis } from '../../diagnosis/diagnosis.js';
import { finding } from '../../diagnosis/finding.js';
import { AcmeProblem, AcmeUnreachable } from '../acme/acme-problem.js';
import { UnusableCertificate } from './x509.js';

export class CertificateOrderError extends Error {
  constructor(
    readonly failure: Diagnosis,
    options?: ErrorOptions,
  ) {
    super(`${failure.code}: ${failure.cause}`, options);
    this.name = 'CertificateOrderError';
  }
}

interface Circumstances {
  /** Null = not about one host. */
  hostname: string | null;
  /** Issuer names of the CA, for the CAA record to add. */
  identities: readonly string[];
  nowMs: number;
}

/** The failure that an error of an order means for the domain's owner; null = the error did not come from the CA. Pure. */
export function orderFailure(error: unknown, circumstances: Circumstances): Diagnosis | null {
  const { hostname, nowMs } = circumstances;
  if (error instanceof UnusableCertificate) {
    return finding('CA_DOWN', [], ADVICE.CA_DOWN(error.message));
  }
  if (!(error instanceof AcmeProblem)) return null;
  const { url, status, retryAfterSeconds = null } = error.context;
  const { type, detail } = error.about(hostname);
  const code = codeOf(type, detail, error.context);
  const [, date, time] = /retry after (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/.exec(error.detail) ?? [];
  const namedMs = date && time ? Date.parse(`${date}T${time}Z`) : null;
  const question = hostname === null ? 'ACME request' : `certificate for ${hostname}`;
  const answer = error instanceof AcmeUnreachable ? detail : `HTTP ${status} ${type}: ${detail}`;
  return {
    ...finding(code, [], ADVICE[code](detail, circumstances)),
    retryAtMs: retryAfterSeconds === null ? namedMs : nowMs + retryAfterSeconds * 1_000,
    evidence: [{ server: url, question, answer, ttlSeconds: null, atMs: nowMs }],
  };
}

type Advice = (said: string, circumstances: Circumstances) => Pick<Diagnosis, 'actor' | 'cause' | 'remedy'>;

const PATH = '/.well-known/acme-challenge/';
const ITSELF = 'Nothing: we retry automatically.';

/** For each code: the party that must act, the problem with the CA's own words, and the fix. */
const ADVICE = {
  CAA_BLOCKS_CA: (said, { hostname, identities: [identity = 'the CA'] }) => ({
    actor: 'OWNER',
    cause: `A CAA record does not allow the certificate authority: ${said}`,
    remedy: `Add the record: ${hostname} CAA 0 issue "${identity}".`,
  }),
  CAA_LOOKUP_FAILED: (said) => ({
    actor: 'DNS_PROVIDER',
    cause: `The certificate authority could not look up CAA records: ${said}`,
    remedy: 'Ask your DNS provider: its name servers must answer NOERROR to questions for CAA records.',
  }),
  CHALLENGE_UNREACHABLE: (said, { hostname }) => ({
    actor: 'OWNER',
    cause: `The certificate authority could not connect to ${hostname}: ${said}`,
    remedy: `Point ${hostname} only here, without AAAA records of other servers, and keep port 80 open.`,
  }),
  CHALLENGE_WRONG_ANSWER: (said, { hostname }) => ({
    actor: 'OWNER',
    cause: `The certificate authority got an answer from another server at ${hostname}: ${said}`,
    remedy: `Remove the proxy or redirect in front of http://${hostname}${PATH}.`,
  }),
  DNS_NO_RECORD: (said, { hostname }) => ({
    actor: 'OWNER',
    cause: `The certificate authority finds no address of ${hostname}: ${said}`,
    remedy: `Create the records that are shown for ${hostname}.`,
  }),
  DNS_UNREACHABLE: (said) => ({
    actor: 'DNS_PROVIDER',
    cause: `The certificate authority could not look the name up: ${said}`,
    remedy: 'Nothing: we retry automatically; if it keeps failing, ask your DNS provider.',
  }),
  DNSSEC_BROKEN: (said) => ({
    actor: 'OWNER',
    cause: `DNSSEC validation fails at the certificate authority: ${said}`,
    remedy: 'Correct or remove the DS record at your registrar.',
  }),
  CA_RATE_LIMITED: (said) => ({
    actor: 'NOBODY',
    cause: `A limit of the certificate authority is reached: ${said}`,
    remedy: ITSELF,
  }),
  CA_PAUSED: (said) => ({
    actor: 'PLATFORM',
    cause: `The certificate authority has paused the name: ${said}`,
    remedy: 'Contact us: the name must be un-paused by hand.',
  }),
  CA_REJECTED: (said) => ({
    actor: 'PLATFORM',
    cause: `The certificate authority refuses the order: ${said}`,
    remedy: 'Contact us.',
  }),
  CA_DOWN: (said) => ({
    actor: 'CERTIFICATE_AUTHORITY',
    cause: `The certificate authority is unavailable or failing: ${said}`,
    remedy: ITSELF,
  }),
} satisfies Partial<Record<Diagnosis['code'], Advice>>;

type FailureCode = keyof typeof ADVICE;

/** Codes for problems during validation. Outside validation, `unauthorized` is about our account. */
const FOUND_BY_VALIDATION: Readonly<Record<string, FailureCode>> = {
  connection: 'CHALLENGE_UNREACHABLE',
  unauthorized: 'CHALLENGE_WRONG_ANSWER',
  incorrectResponse: 'CHALLENGE_WRONG_ANSWER',
  tls: 'CHALLENGE_WRONG_ANSWER',
};

function codeOf(type: string, detail: string, { isValidation, status }: AcmeProblem['context']): FailureCode {
  // Pebble reports a failed DNS lookup as `connection`.
  if (type === 'connection' && /could not resolve|resolving URL/.test(detail)) return 'DNS_UNREACHABLE';
  const found = isValidation ? FOUND_BY_VALIDATION[type] : undefined;
  if (found) return found;
  if (type === 'caa') return 'CAA_BLOCKS_CA';
  if (type === 'dns') return dnsCode(detail);
  if (type === 'rateLimited') return /\bpaused\b/i.test(detail) ? 'CA_PAUSED' : 'CA_RATE_LIMITED';
  // The next attempt creates a forgotten account again.
  const isPassing = /^(serverInternal|badNonce|orderNotReady|accountDoesNotExist)$/.test(type);
  return isPassing || status >= 500 ? 'CA_DOWN' : 'CA_REJECTED';
}

/** ACME has a single type for all DNS problems; the text tells more. */
function dnsCode(detail: string): FailureCode {
  if (/DNSSEC|\bbogus\b|DNSKEY/i.test(detail)) return 'DNSSEC_BROKEN';
  if (/\bCAA\b/.test(detail)) return 'CAA_LOOKUP_FAILED';
  const isMissing = /NXDOMAIN|no valid (A|IP)|no (A|IP|such host)|not (found|exist)|could not be found/i.test(
    detail,
  );
  return isMissing ? 'DNS_NO_RECORD' : 'DNS_UNREACHABLE';
}
