import type { Diagnosis, DiagnosisCode } from './diagnosis.js';

/** The values that the texts insert. Each code uses some of them. */
export interface Facts {
  hostname: string;
  platformHost: string;
  isApex: boolean;
  /** Null = unknown. */
  zone: string | null;
  /** The names or addresses found instead, in words, or the rcode. */
  seen: string;
  /** The name, server or record that the text is about. */
  about: string;
  /** More detail, as the end of a sentence; empty = none. */
  detail: string;
  /** A time in words; null = unknown. */
  until: string | null;
}

interface Text extends Pick<Diagnosis, 'severity' | 'actor'> {
  /** Omitted when the code is the key. */
  code?: DiagnosisCode;
  cause: (facts: Facts) => string;
  remedy: (facts: Facts) => string;
}

const owner = { severity: 'ERROR', actor: 'OWNER' } as const;
const addCname = (to: Facts) => `a CNAME record: name ${to.hostname}, value ${to.platformHost}, TTL 3600`;
const addAlias = (to: Facts) => `one ALIAS or ANAME record: name ${to.hostname}, value ${to.platformHost}`;
const label = ({ hostname, zone }: Facts) =>
  zone && hostname !== zone && hostname.endsWith(`.${zone}`) ? hostname.slice(0, -zone.length - 1) : '@';

/** All texts of the DNS findings. A code can have a second text for another cause. */
const DNS_TEXTS = {
  OWNERSHIP_TXT_MISSING: {
    ...owner,
    cause: ({ about, detail }) => `There is no TXT record at ${about}${detail}.`,
    remedy: ({ about, hostname, seen }) =>
      `Add exactly this TXT record: name ${about} (not ${hostname}), value ${seen}.`,
  },
  OWNERSHIP_TXT_MISMATCH: {
    ...owner,
    cause: ({ about, detail }) => `The TXT record at ${about} has another value${detail}.`,
    remedy: ({ seen }) => `Replace its value with ${seen}.`,
  },
  OWNERSHIP_CONTESTED: {
    ...owner,
    code: 'OWNERSHIP_TXT_MISMATCH',
    cause: ({ about, hostname }) =>
      `Another project requested ${hostname}, and the TXT record at ${about} proves that project's ownership.`,
    remedy: ({ about, seen }) =>
      `To serve the name from this project, replace the value of the TXT record at ${about} with ${seen}.`,
  },
  DNS_NO_RECORD: {
    ...owner,
    cause: ({ hostname, seen }) => `${hostname} ${seen}.`,
    remedy: (facts) => {
      const record = facts.isApex ? addAlias(facts) : addCname(facts);
      return facts.about === ''
        ? `Add ${record}.`
        : `Check that ${facts.about} is registered and has name servers, then add ${record}.`;
    },
  },
  NAME_DOUBLED: {
    ...owner,
    cause: ({ about, zone }) => `The record was created as ${about}, which contains ${zone} twice.`,
    remedy: (facts) =>
      `Your DNS provider appends ${facts.zone} automatically: enter only ${label(facts)} as the name.`,
  },
  VALUE_DOUBLED: {
    ...owner,
    cause: ({ hostname, seen, zone }) =>
      `The CNAME of ${hostname} points to ${seen}: your DNS provider has appended ${zone} to the value.`,
    remedy: ({ platformHost }) => `End the value with a dot: ${platformHost}.`,
  },
  CNAME_WRONG_VALUE: {
    ...owner,
    cause: ({ hostname, seen, platformHost }) =>
      `The CNAME of ${hostname} points to ${seen}, not to ${platformHost}.`,
    remedy: ({ seen, platformHost }) => `Replace ${seen} with ${platformHost}.`,
  },
  CONFLICTING_RECORD: {
    ...owner,
    cause: ({ hostname, seen, about }) => `${hostname} has ${about} (${seen}), which block the CNAME.`,
    remedy: (facts) => `Delete these records, then add ${addCname(facts)}.`,
  },
  AAAA_FOREIGN: {
    ...owner,
    cause: ({ hostname, seen }) =>
      `${hostname} points here over IPv4 but to ${seen} over IPv6, and certificate authorities prefer IPv6.`,
    remedy: ({ seen }) => `Delete the AAAA record with ${seen}.`,
  },
  ADDRESS_MIXED: {
    ...owner,
    cause: ({ hostname, seen, about }) => `${hostname} points to ${seen} in addition to our ${about}.`,
    remedy: (facts) => `Keep ${addAlias(facts)}; delete the records with ${facts.seen}.`,
  },
  ADDRESS_ELSEWHERE: {
    ...owner,
    cause: ({ hostname, seen, platformHost, detail }) =>
      `${hostname} points to ${seen}${detail}, not to ${platformHost}.`,
    remedy: (facts) => `Delete these A and AAAA records, then add ${addAlias(facts)}.`,
  },
  APEX_NEEDS_ALIAS: {
    ...owner,
    cause: ({ hostname, detail }) => `${hostname} is the apex of a zone and can't have a CNAME${detail}.`,
    remedy: (facts) =>
      `Add ${addAlias(facts)}; if your DNS provider has none, add www.${facts.hostname} here and redirect ${facts.hostname} to it.`,
  },
  FLATTENED: {
    severity: 'INFO',
    actor: 'NOBODY',
    cause: ({ hostname }) => `The CNAME of ${hostname} is hidden, and its addresses are ours.`,
    remedy: ({ platformHost }) =>
      `Nothing, if your DNS provider hides the CNAME to ${platformHost}; fixed addresses stop working when ours change.`,
  },
  PROXIED: {
    ...owner,
    cause: ({ hostname, seen }) =>
      `${hostname} points to ${seen}, a Cloudflare proxy that hides the real target.`,
    remedy: (facts) =>
      `Switch the record of ${facts.hostname} to "DNS only", and point it to ${facts.platformHost}.`,
  },
  CNAME_LOOP: {
    ...owner,
    cause: ({ hostname, seen }) => `The CNAMEs of ${hostname} form a loop: ${seen}.`,
    remedy: ({ hostname, platformHost }) => `Point the CNAME of ${hostname} straight to ${platformHost}.`,
  },
  TARGET_GONE: {
    ...owner,
    cause: ({ hostname, seen }) => `The CNAMEs of ${hostname} end at ${seen}, which does not exist.`,
    remedy: ({ hostname, platformHost }) => `Point the CNAME of ${hostname} straight to ${platformHost}.`,
  },
  NOT_PROPAGATED: {
    severity: 'ERROR',
    actor: 'NOBODY',
    cause: ({ about, seen }) => `${about} still give an old answer: ${seen}.`,
    remedy: ({ until }) =>
      `Wait${until ? ` until ${until}` : ''}; if they still differ then, ask your DNS provider why.`,
  },
  NAMESERVER_FAILING: {
    severity: 'ERROR',
    actor: 'DNS_PROVIDER',
    cause: ({ about, seen }) => `${about} ${seen}.`,
    remedy: () =>
      'Ask your DNS provider to repair it; if the name servers at your registrar are not those of your provider, correct them there.',
  },
  DELEGATION_DIFFERS: {
    code: 'NAMESERVER_FAILING',
    severity: 'WARNING',
    actor: 'OWNER',
    cause: ({ about, seen, zone, detail }) =>
      `${about} as name servers of ${zone}, but the zone itself names ${seen}${detail}.`,
    remedy: ({ seen }) =>
      `Enter the name servers of your DNS provider both at your registrar and in the zone: ${seen}, if these are right.`,
  },
  DNSSEC_BROKEN: {
    ...owner,
    cause: ({ zone, hostname, detail }) =>
      `The answers for ${zone ?? hostname} fail DNSSEC validation${detail}.`,
    remedy: ({ zone, hostname }) =>
      `Correct or remove the DS record of ${zone ?? hostname} at your registrar.`,
  },
  DNS_UNREACHABLE: {
    severity: 'ERROR',
    actor: 'NOBODY',
    cause: ({ about, seen }) =>
      `DNS could not be asked for ${about} (${seen}), which says nothing about your records.`,
    remedy: ({ until }) => `Nothing: we ask again at ${until}.`,
  },
  WILDCARD_DNS: {
    severity: 'WARNING',
    actor: 'OWNER',
    cause: ({ about }) => `Any name below ${about} points here, even names that you have not added.`,
    remedy: ({ about }) => `Replace the record *.${about} with one record for each name.`,
  },
  CACHES_ARE_OLD: {
    code: 'NOT_PROPAGATED',
    severity: 'INFO',
    actor: 'NOBODY',
    cause: ({ about, seen }) => `${about}, but caches still give an old answer: ${seen}.`,
    remedy: ({ until }) => `Nothing: caches have the new answer${until ? ` by ${until}` : ' soon'}.`,
  },
  PLATFORM_GONE: {
    code: 'TARGET_GONE',
    severity: 'WARNING',
    actor: 'PLATFORM',
    cause: ({ platformHost }) => `${platformHost} itself has no addresses, which is our fault, not yours.`,
    remedy: () => 'Nothing: we must repair it.',
  },
  PLATFORM_FAILING: {
    code: 'NAMESERVER_FAILING',
    severity: 'ERROR',
    actor: 'PLATFORM',
    cause: ({ platformHost, seen }) =>
      `${platformHost} itself can't be resolved (${seen}), which is our fault.`,
    remedy: () => 'Nothing: we must repair it.',
  },
} satisfies Partial<Record<DiagnosisCode, Text>> & Record<string, Text>;

export type TextName = keyof typeof DNS_TEXTS;

export function textOf(name: TextName): Text & { code: DiagnosisCode } {
  const text: Text = DNS_TEXTS[name];
  return { ...text, code: text.code ?? (name as DiagnosisCode) };
}
