import { useId } from 'react';

interface Props<Value> {
  /** The name of the choice, for screen readers. */
  legend: string;
  choices: readonly { value: Value; label: string; title?: string | undefined }[];
  value: Value;
  onChange: (value: Value) => void;
}

/** A choice among few values that all fit beside each other. */
export function Segments<Value extends string | null>({ legend, choices, value, onChange }: Props<Value>) {
  const name = useId();
  return (
    <fieldset className="segments">
      <legend className="unseen">{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.label} title={choice.title}>
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
