import { Notice } from '../elements/notice.js';
import { standing } from '../graphql/standing.js';
import { inWords } from './in-words.js';
import { useBlock } from './use-block.js';

interface Props {
  error: unknown;
  onRetry?: (() => void) | undefined;
}

/**
 * Shows what went wrong and what to do next. A spent quota and a ban have their banner on every page (`QuotaNotice`): here
 * they get one quiet line, never a second banner.
 */
export function ErrorNotice({ error, onRetry }: Props) {
  const { title, remedy, isOfQuota } = inWords(error);
  const { isBlocked, countdown } = useBlock(error);
  const hasBanner = standing.use() !== null;
  const button = onRetry && (
    <button type="button" disabled={isBlocked} onClick={onRetry}>
      Try again{countdown}
    </button>
  );
  if (isOfQuota && hasBanner) {
    return (
      <div className="refused" role="alert">
        <p>{remedy}</p>
        {button}
      </div>
    );
  }
  return (
    <Notice tone="bad" title={title} isUrgent>
      {remedy && <p>{remedy}</p>}
      {button}
    </Notice>
  );
}
