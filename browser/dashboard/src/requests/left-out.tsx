import { Info } from 'lucide-react';
import { Tooltip } from '../elements/tooltip.js';

const NUMBER = new Intl.NumberFormat();
const REASON =
  'The log has the last 10,000 requests of 48 hours. Of each second each process of the gateway keeps 50, those with an error first. Usage on the overview counts all requests.';

/** How complete the log is. */
export function LeftOut({ count }: { count: number }) {
  const text =
    count === 0
      ? 'All requests of the last 48 hours are in the log.'
      : `${NUMBER.format(count)} ${count === 1 ? 'request' : 'requests'} of the last 48 hours ${count === 1 ? 'is' : 'are'} not in the log.`;
  return (
    <p className="left-out muted">
      {text}
      <Tooltip content={REASON}>
        <button type="button" className="quiet icon small" aria-label={`How the log is kept: ${REASON}`}>
          <Info size={15} aria-hidden="true" />
        </button>
      </Tooltip>
    </p>
  );
}
