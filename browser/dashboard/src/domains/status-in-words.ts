import type { DomainStatus } from '../graphql/generated.js';

export type StepState = 'done' | 'now' | 'waiting' | 'failed';

interface InWords {
  label: string;
  tone: 'good' | 'busy' | 'warn' | 'bad' | 'idle';
  /** The meaning of the status, and the next step. */
  sentence: string;
  /** DNS → certificate → active. */
  steps: readonly [StepState, StepState, StepState];
}

export const STATUS_IN_WORDS: Record<DomainStatus, InWords> = {
  PENDING_DNS: {
    label: 'Waiting for DNS',
    tone: 'idle',
    sentence: 'Create the record below. The gateway checks for it regularly, and whenever you choose Verify.',
    steps: ['now', 'waiting', 'waiting'],
  },
  OWNERSHIP_REQUIRED: {
    label: 'Proof of ownership needed',
    tone: 'warn',
    sentence: 'Create the TXT record below: it proves that the name is yours. Then choose Verify.',
    steps: ['now', 'waiting', 'waiting'],
  },
  DNS_FAILED: {
    label: 'DNS is incorrect',
    tone: 'bad',
    sentence: 'The findings below state the problem and who must act. Correct it, then choose Verify.',
    steps: ['failed', 'waiting', 'waiting'],
  },
  VERIFIED: {
    label: 'DNS is correct',
    tone: 'busy',
    sentence: 'A certificate is ordered next. You need not do anything.',
    steps: ['done', 'now', 'waiting'],
  },
  ISSUING: {
    label: 'Certificate in progress',
    tone: 'busy',
    sentence: 'A certificate is being issued. This takes seconds, sometimes minutes.',
    steps: ['done', 'now', 'waiting'],
  },
  ISSUE_FAILED: {
    label: 'No certificate yet',
    tone: 'bad',
    sentence: 'The findings below give the reason. The gateway retries automatically.',
    steps: ['done', 'failed', 'waiting'],
  },
  ACTIVE: {
    label: 'Active',
    tone: 'good',
    sentence: 'Served over HTTPS. The certificate is renewed automatically.',
    steps: ['done', 'done', 'done'],
  },
  DRIFTED: {
    label: 'Active, but DNS has changed',
    tone: 'warn',
    sentence:
      'Still served, but DNS no longer points here, so the certificate can’t be renewed. Restore the record.',
    steps: ['failed', 'done', 'done'],
  },
  EXPIRED: {
    label: 'Certificate expired',
    tone: 'bad',
    sentence: 'No longer served. Follow the findings below, then choose Re-verify.',
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
