import type { NounField } from '../../../../nouns.js';
import { inSentence } from '../../../../nouns.js';
import type { Browsing } from '../browsing.js';
import { localTimeOf, momentOf } from '../item-field.js';
import { useTypedFilter } from './use-typed-filter.js';

interface Props {
  browsing: Browsing;
  field: NounField;
  /** The arguments of both bounds. */
  from: string;
  before: string;
}

/** A filter by two bounds: from the first one on, and before the second one. */
export function RangeField({ browsing, field, from, before }: Props) {
  return (
    <fieldset className="range">
      <legend className="unseen">{field.label}</legend>
      <span aria-hidden="true">{field.label}</span>
      <Bound browsing={browsing} field={field} argument={from} match="from" />
      <Bound browsing={browsing} field={field} argument={before} match="before" />
    </fieldset>
  );
}

interface BoundProps {
  browsing: Browsing;
  field: NounField;
  argument: string;
  match: 'from' | 'before';
}

function Bound(props: BoundProps) {
  const { field, match } = props;
  const { text, setText, isValid, search } = useTypedFilter(props);
  const isMoment = field.scalar === 'DateTime';
  const isDay = field.kind === 'date';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <label>
        {match}
        <input
          type={isMoment ? 'datetime-local' : isDay ? 'date' : 'text'}
          aria-label={`${field.label} ${match}`}
          title={`Only ${inSentence(field.label)} ${match === 'from' ? 'from this value on' : 'before this value'}`}
          inputMode={isMoment || isDay ? undefined : 'decimal'}
          max={isMoment ? '9999-12-31T23:59' : isDay ? '9999-12-31' : undefined}
          size={isMoment || isDay ? undefined : 8}
          value={isMoment ? localTimeOf(text).slice(0, MINUTES) : text}
          aria-invalid={!isValid}
          autoComplete="off"
          onChange={({ target: { value } }) => setText(isMoment ? momentOf(value) : value.trim())}
        />
      </label>
    </form>
  );
}

/** The characters of a local time without its seconds. */
const MINUTES = 16;
