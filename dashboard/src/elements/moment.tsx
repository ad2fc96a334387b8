interface Props {
  /** ISO 8601. */
  at: string;
}

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A point in time, in the zone and language of the reader. */
export function Moment({ at }: Props) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={EXACT.format(date)}>
      {SHORT.format(date)}
    </time>
  );
}
