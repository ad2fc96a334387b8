import { type ReactNode, useId } from 'react';

interface ChoiceProps {
  label: string;
  /** The choice without this filter. */
  all: string;
  value: string | null | undefined;
  choices: readonly { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
}

/** A labelled list of the values that a filter may have, and of none. */
export function Choice({ label, all, value, choices, onChange }: ChoiceProps) {
  // A value from the URL may be none of the recent ones.
  const isKnown = !value || choices.some((choice) => choice.value === value);
  return (
    <Labelled label={label}>
      {(id) => (
        <select id={id} value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
          <option value="">{all}</option>
          {!isKnown && value && <option value={value}>{value}</option>}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

export function Labelled({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="filter">
      <label htmlFor={id} className="label">
        {label}
      </label>
      {children(id)}
    </div>
  );
}
