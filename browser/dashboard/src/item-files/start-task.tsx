import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useNow } from '../elements/now.js';
import { standing } from '../graphql/standing.js';
import { fittingToday, type Spending, spendingOf, type Work } from './spending.js';

interface Props {
  verb: 'Import' | 'Export';
  work: Work;
  /** A number with its noun, such as `1,000 books`. */
  counted: (count: number) => string;
  /** Called with how many to import or export. */
  onStart: (count: number) => void;
  onClose: () => void;
}

/** A task that spends more of what is left today needs a yes. */
const ASKED_ABOVE = 0.1;
const NUMBER = new Intl.NumberFormat();

/** Shows what a task costs before it starts, and offers the part that fits into today. */
export function StartTask({ verb, work, counted, onStart, onClose }: Props) {
  const known = standing.use();
  const now = useNow();
  const [isWhole, setWhole] = useState(false);
  const [isAgreed, setAgreed] = useState(false);
  const whole = spendingOf(work, known, now);
  const fitting = whole ? fittingToday(work, whole) : work.count;
  const isSplit = whole !== null && whole.days > 1;
  const count = isSplit && !isWhole && fitting > 0 ? fitting : work.count;
  const spending = spendingOf({ ...work, count }, known, now);
  const asks = spending !== null && spending.share > ASKED_ABOVE;
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It replaces what had the focus in its dialog.
    const focused = document.activeElement;
    if (!focused || focused === document.body || focused.matches('.dialog')) {
      form.current?.querySelector<HTMLElement>('[data-first]')?.focus();
    }
  }, []);
  const choose = (all: boolean) => {
    setWhole(all);
    setAgreed(false);
  };
  return (
    <div className="start-task" ref={form}>
      {isSplit && fitting > 0 && (
        <fieldset>
          <legend>Today’s quota does not pay for all of it</legend>
          <Choice isChosen={!isWhole} onChoose={() => choose(false)}>
            {verb} only the first {counted(fitting)}, today
          </Choice>
          <Choice isChosen={isWhole} onChoose={() => choose(true)}>
            {verb} all {counted(work.count)} over {whole.days} days: a pause until midnight UTC each time the
            quota is spent
          </Choice>
        </fieldset>
      )}
      {spending && <Facts spending={spending} />}
      {asks && (
        <label className="check spending-yes">
          <input
            type="checkbox"
            data-first
            checked={isAgreed}
            onChange={({ target }) => setAgreed(target.checked)}
          />
          <span>{agreement(spending)}</span>
        </label>
      )}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          data-first={asks ? undefined : true}
          disabled={asks && !isAgreed}
          onClick={() => onStart(count)}
        >
          {count < work.count ? `${verb} the first ${counted(count)}` : `${verb} ${counted(count)}`}
        </button>
      </div>
    </div>
  );
}

function Choice({
  isChosen,
  onChoose,
  children,
}: {
  isChosen: boolean;
  onChoose: () => void;
  children: ReactNode;
}) {
  return (
    <label className="check">
      <input type="radio" name="part" checked={isChosen} onChange={onChoose} />
      <span>{children}</span>
    </label>
  );
}

function Facts({ spending: { units, left, leaves, days, duration } }: { spending: Spending }) {
  const spent = units === 1 ? '1 unit' : `${NUMBER.format(units)} units`;
  return (
    <dl className="spending">
      <dt>Spends</dt>
      <dd>
        <strong>{spent}</strong>
        {left !== null && <span className="muted"> of the {NUMBER.format(left)} that are left today</span>}
      </dd>
      <dt>Takes</dt>
      <dd>
        {days > 1 ? `${days} days` : duration}
        <span className="muted">; a tenth of every minute stays free for your clients</span>
      </dd>
      {leaves !== null && (
        <>
          <dt>Leaves</dt>
          <dd>
            <strong>{NUMBER.format(leaves)} units</strong>
            <span className="muted"> for your clients until midnight UTC</span>
          </dd>
        </>
      )}
    </dl>
  );
}

function agreement({ share, left, days }: Spending): string {
  if (left === 0) return 'Begin when the quota resets, and spend it then.';
  if (days > 1) return 'Spend all that is left today, and then the quota of the next days.';
  return `Spend ${Math.round(share * 100)} % of what is left today.`;
}
