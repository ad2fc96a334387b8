import type { DomainStatus } from '../graphql/generated.js';

export type StepState = 'done' | 'now' | 'waiting' | 'failed';

interface InWords {
  label: string;
  tone: 'good' | 'busy' | 'warn' | 'bad' | 'idle';
  /** What it means, and what happens next. */
  sentence: string;
  /** DNS → certificate → active. */
  steps: readonly [StepState, StepState, StepState];
}

export const STATUS_IN_WORDS: Record<DomainStatus, InWords> = {
  PENDING_DNS: {
    label: 'Waiting for DNS',
    tone: 'idle',
    sentence:
      'Create the record below. It is looked for by itself every so often, and whenever you choose Verify.',
    steps: ['now', 'waiting', 'waiting'],
  },
  OWNERSHIP_REQUIRED: {
    label: 'Proof of ownership needed',
    tone: 'warn',
    sentence: 'Create the TXT record below: it proves that the name is yours. Then choose Verify.',
    steps: ['now', 'waiting', 'waiting'],
  },
  DNS_FAILED: {
    label: 'DNS is not right',
    tone: 'bad',
    sentence: 'The findings below say what is wrong and who must act. Correct it, then choose Verify.',
    steps: ['failed', 'waiting', 'waiting'],
  },
  VERIFIED: {
    label: 'DNS is right',
    tone: 'busy',
    sentence: 'A certificate is ordered next. Nothing needs to be done.',
    steps: ['done', 'now', 'waiting'],
  },
  ISSUING: {
    label: 'Certificate on its way',
    tone: 'busy',
    sentence: 'A certificate is being issued. This takes seconds, sometimes minutes.',
    steps: ['done', 'now', 'waiting'],
  },
  ISSUE_FAILED: {
    label: 'No certificate yet',
    tone: 'bad',
    sentence: 'The findings below say why. It is tried again by itself; Re-verify tries now.',
    steps: ['done', 'failed', 'waiting'],
  },
  ACTIVE: {
    label: 'Active',
    tone: 'good',
    sentence: 'Served over HTTPS. The certificate is renewed by itself.',
    steps: ['done', 'done', 'done'],
  },
  DRIFTED: {
    label: 'Active, but DNS has moved',
    tone: 'warn',
    sentence:
      'Still served, but DNS no longer leads here, and the certificate can’t be renewed. Put the record back.',
    steps: ['failed', 'done', 'done'],
  },
  EXPIRED: {
    label: 'Certificate ran out',
    tone: 'bad',
    sentence: 'Not served any more. Follow the findings below, then choose Re-verify.',
    steps: ['done', 'failed', 'waiting'],
  },
  SUSPENDED: {
    label: 'Suspended',
    tone: 'warn',
    sentence:
      'Not served, because the plan has no custom domains. The name stays yours; upgrade to serve it again.',
    steps: ['done', 'done', 'failed'],
  },
  REMOVED: {
    label: 'Removed',
    tone: 'idle',
    sentence: 'Removed from the project, and not served.',
    steps: ['waiting', 'waiting', 'waiting'],
  },
};
