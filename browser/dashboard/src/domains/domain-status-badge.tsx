import type { DomainStatus } from '../graphql/generated.js';
import { STATUS_IN_WORDS } from './status-in-words.js';

export function DomainStatusBadge({ status }: { status: DomainStatus }) {
  const { label, tone } = STATUS_IN_WORDS[status];
  return <span className={`badge badge-${tone}`}>{label}</span>;
}
