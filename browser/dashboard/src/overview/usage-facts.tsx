import { requestsPath } from '../requests/request-filter.js';
import { durationInWords } from '../requests/request-names.js';
import { Link } from '../routing/link.js';
import { requestsOf, share } from './rates.js';
import { useUsageChoice } from './usage-choice.js';
import type { KnownUsage } from './use-live-usage.js';

const COUNT = new Intl.NumberFormat();

/** The window in six numbers. */
export function UsageFacts({ known }: { known: KnownUsage }) {
  const { mayReadKeys } = useUsageChoice();
  const { total, latency } = known.usage.plot;
  const requests = requestsOf(total);
  const facts = [
    { name: 'Requests', value: COUNT.format(requests), detail: `${COUNT.format(total.admitted)} admitted` },
    { name: 'Quota units', value: COUNT.format(total.units), detail: 'spent of the plan' },
    {
      name: 'Errors',
      value: share(total.failed, requests),
      detail: `${COUNT.format(total.failed)} requests`,
      tone: total.failed > 0 ? 'fact-failed' : '',
      to: total.failed > 0 ? requestsPath({ outcome: 'FAILED' }) : null,
    },
    {
      name: 'Refused',
      value: share(total.refused, requests),
      detail: `${COUNT.format(total.refused)} by a limit or ban`,
      tone: total.refused > 0 ? 'fact-refused' : '',
      to: total.refused > 0 ? requestsPath({ outcome: 'REFUSED' }) : null,
    },
    { name: 'Latency p50', value: inWords(latency.p50Ms), detail: 'or less for half of them' },
    { name: 'Latency p95', value: inWords(latency.p95Ms), detail: 'or less for 95 of 100' },
  ];
  return (
    <dl className="facts">
      {facts.map(({ name, value, detail, tone = '', to = null }) => (
        <div key={name} className={tone}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd className="fact-detail">
            {to !== null && mayReadKeys ? <Link to={to}>{detail}</Link> : detail}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A dash without requests. */
function inWords(ms: number | null): string {
  return ms === null ? '–' : durationInWords(ms);
}
