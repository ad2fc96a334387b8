import { Countdown } from '../elements/countdown.js';
import { Notice } from '../elements/notice.js';
import { inWords } from './in-words.js';

interface Props {
  error: unknown;
  onRetry?: (() => void) | undefined;
  /** What the button says. */
  retry?: string;
}

/** Says what went wrong and what to do next. */
export function ErrorNotice({ error, onRetry, retry = 'Try again' }: Props) {
  const { title, remedy, retryAtMs } = inWords(error);
  return (
    <Notice tone="bad" title={title} isUrgent>
      <p>
        {remedy}
        {retryAtMs !== null && (
          <>
            {' '}
            Possible again in <Countdown untilMs={retryAtMs} />.
          </>
        )}
      </p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {retry}
        </button>
      )}
    </Notice>
  );
}
