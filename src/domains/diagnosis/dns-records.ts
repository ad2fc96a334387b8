import { createHash } from 'node:crypto';

/** A TXT record that proves control of the name's DNS. */
export interface OwnershipRecord {
  /** The full name, without a trailing dot. */
  name: string;
  value: string;
}

/** Spec: Custom domains 4. */
export const TTL_SECONDS = 3600;

/**
 * The proof of ownership. The value is valid for one project and one host only, so it is no secret: a copy from DNS proves
 * nothing for another project or host.
 */
export function ownershipRecord(projectId: bigint, hostname: string): OwnershipRecord {
  const digest = createHash('sha256').update(`${projectId}/${hostname}`).digest('hex');
  return { name: proofNameOf(hostname), value: `${PROOF}${digest.slice(0, TOKEN_LENGTH)}` };
}

/** Whether a TXT record is a proof of ownership for any project. */
export function isProof(text: string): boolean {
  return text.startsWith(PROOF);
}

/** 128 bits: nobody finds a second project with the same token. */
const TOKEN_LENGTH = 32;
const PREFIX = '_petstore-verify.';
const PROOF = 'petstore-verify=';
const MAX_NAME_LENGTH = 253;

/** For a name too long for the prefix, the proof is at the nearest parent that fits: its owner owns the name too. */
function proofNameOf(hostname: string): string {
  let below = hostname;
  while (PREFIX.length + below.length > MAX_NAME_LENGTH) below = below.slice(below.indexOf('.') + 1);
  return `${PREFIX}${below}`;
}
