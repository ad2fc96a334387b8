import { Tooltip } from '../elements/tooltip.js';
import type { KeyUsePartsFragment } from '../graphql/generated.js';

/** Undefined = the key sent no request. */
interface Props {
  use: KeyUsePartsFragment | undefined;
}

const HEIGHT = 28;
const STEP = 5;
const LEAST_HEIGHT = 2;
const COUNT = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** The requests of a key in the last 24 hours: a bar for each hour, the refused ones on top. */
export function KeySparkline({ use }: Props) {
  if (!use) return <span className="muted">none</span>;
  const { total, counts } = use;
  const highest = Math.max(1, ...counts.map(({ admitted, refused }) => admitted + refused));
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(LEAST_HEIGHT, (count / highest) * (HEIGHT - 1));
  const sum = total.admitted + total.refused;
  const words = `${COUNT.format(sum)} ${sum === 1 ? 'request' : 'requests'} in the last 24 hours, ${COUNT.format(total.refused)} refused`;
  return (
    <Tooltip content={words}>
      <span className="spark">
        <svg
          role="img"
          aria-label={words}
          viewBox={`0 0 ${counts.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          <rect className="spark-base" x="0" y={HEIGHT - 1} width={counts.length * STEP} height="1" />
          {counts.map(({ admitted, refused }, at) => {
            const [lower, upper] = [heightOf(admitted), heightOf(refused)];
            const top = Math.max(0, HEIGHT - 1 - lower - upper);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the hours keep their places.
              <g key={at}>
                <rect x={at * STEP} y={HEIGHT - 1 - lower} width={STEP - 1} height={lower} />
                <rect className="spark-refused" x={at * STEP} y={top} width={STEP - 1} height={upper} />
              </g>
            );
          })}
        </svg>
        <span aria-hidden="true">{SHORT.format(sum)}</span>
      </span>
    </Tooltip>
  );
}
