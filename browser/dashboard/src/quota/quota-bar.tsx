import type { ReactNode } from 'react';

interface Props {
  name: string;
  used: number;
  limit: number;
  /** When it resets. */
  children: ReactNode;
}

const COUNT = new Intl.NumberFormat();
const HIGH = 0.8;

export function QuotaBar({ name, used, limit, children }: Props) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const level = share >= 1 ? 'full' : share >= HIGH ? 'high' : 'fine';
  const text = `${COUNT.format(used)} of ${COUNT.format(limit)} used`;
  return (
    <>
      <p className="quota-head">
        <span>
          {name} <span className="muted">{children}</span>
        </span>
        <span>{text}</span>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a meter element in their own colours. */}
      <div
        className={`bar bar-${level}`}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={used}
        aria-valuetext={text}
      >
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect width={share === 0 ? 0 : Math.max(share * 100, 0.5)} height="1" />
        </svg>
      </div>
    </>
  );
}
