import { type Browsing, browseTo, PET_STATUSES } from './pet-browsing.js';

const CHOICES = [
  { status: null, label: 'All' },
  ...PET_STATUSES.map((status) => ({ status, label: status })),
];

export function StatusFilter({ browsing }: { browsing: Browsing }) {
  return (
    <fieldset className="segments">
      <legend className="unseen">Status</legend>
      {CHOICES.map(({ status, label }) => (
        <label key={label}>
          <input
            type="radio"
            name="status"
            checked={browsing.status === status}
            onChange={() => browseTo({ status, after: null, trail: [] })}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
