import { createHash } from 'node:crypto';

/** A record that the owner creates at their DNS provider. */
export interface DnsRecord {
  /** `ALIAS` is called ANAME by some providers. */
  type: 'CNAME' | 'ALIAS' | 'TXT';
  /** In full, without a trailing dot. */
  name: string;
  value: string;
  ttlSeconds: number;
}

interface Attachment {
  hostname: string;
  /** A zone begins at the name, so it can't hold a CNAME. */
  isApex: boolean;
  platformHost: string;
  /** Null = nobody asks for a proof. */
  ownership: OwnershipRecord | null;
}

/** A TXT record that only somebody in control of the name's DNS can create. */
export interface OwnershipRecord {
  name: string;
  value: string;
}

/** A pointer and a proof. */
export const MAX_RECORDS_TO_CREATE = 2;

/** Every record the owner has to create: what is shown is what is verified. Spec: Custom domains 4 and 5. */
export function recordsFor({ hostname, isApex, platformHost, ownership }: Attachment): DnsRecord[] {
  const type = isApex ? 'ALIAS' : 'CNAME';
  const pointer: DnsRecord = { type, name: hostname, value: platformHost, ttlSeconds: TTL_SECONDS };
  if (!ownership) return [pointer];
  const { name, value } = ownership;
  return [pointer, { type: 'TXT', name, value, ttlSeconds: TTL_SECONDS }];
}

/**
 * The proof of ownership. It names the project and the host, so it is no secret: seen in DNS, it helps nobody with another
 * project or another host.
 */
export function ownershipRecord(projectId: bigint, hostname: string): OwnershipRecord {
  const digest = createHash('sha256').update(`${projectId}/${hostname}`).digest('hex');
  return { name: proofNameOf(hostname), value: `${PROOF}${digest.slice(0, TOKEN_LENGTH)}` };
}

/** Whether a TXT record proves a name for a project, whichever. */
export function isProof(text: string): boolean {
  return text.startsWith(PROOF);
}

/** Spec: Custom domains 4. */
const TTL_SECONDS = 3600;
/** 128 bits: nobody finds a second project with the same token. */
const TOKEN_LENGTH = 32;
const PREFIX = '_petstore-verify.';
const PROOF = 'petstore-verify=';
const MAX_NAME_LENGTH = 253;

/** Where a name leaves no room for the prefix the proof is at the nearest parent that does: its owner owns the name too. */
function proofNameOf(hostname: string): string {
  let below = hostname;
  while (PREFIX.length + below.length > MAX_NAME_LENGTH) below = below.slice(below.indexOf('.') + 1);
  return `${PREFIX}${below}`;
}
