import { useQuery } from '@apollo/client/react';
import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Choice, Labelled } from '../elements/choice.js';
import { Segments } from '../elements/segments.js';
import { RequestChoicesDocument, type RequestFilter } from '../graphql/generated.js';
import { DOORS, OUTCOMES, showRequests } from './request-filter.js';
import { DOOR_NAMES } from './request-names.js';

const OUTCOME_NAMES = { OK: 'OK', FAILED: 'Failed', REFUSED: 'Refused' };
const OUTCOME_CHOICES = [
  { value: null, label: 'All' },
  ...OUTCOMES.map((value) => ({ value, label: OUTCOME_NAMES[value] })),
];

/** The controls of the filter. The URL has its present state. */
export function RequestFilters({ filter }: { filter: RequestFilter }) {
  // Only for the choices: in the cache it would replace what other pages have read of the same usage.
  const { data } = useQuery(RequestChoicesDocument, { fetchPolicy: 'no-cache' });
  const change = (changes: RequestFilter) => {
    const next = Object.entries({ ...filter, ...changes }).filter(([, value]) => value !== undefined);
    showRequests(Object.fromEntries(next));
  };
  const isFiltered = Object.keys(filter).length > 0;
  const keys = (data?.apiKeys ?? []).map(({ id, name, prefix }) => ({
    value: id,
    label: `${name} (${prefix}…)`,
  }));
  const names = (series: readonly { name: string }[] | undefined) =>
    (series ?? []).map(({ name }) => ({ value: name, label: name }));
  return (
    <div className="filters">
      <div className="filters-head">
        <Segments
          legend="Outcome"
          choices={OUTCOME_CHOICES}
          value={filter.outcome ?? null}
          onChange={(outcome) => change({ outcome: outcome ?? undefined })}
        />
        {isFiltered && (
          <button type="button" className="quiet small" onClick={() => showRequests({})}>
            <X size={16} aria-hidden="true" />
            Clear filters
          </button>
        )}
      </div>
      <Choice
        label="API key"
        all="All keys"
        value={filter.keyId}
        choices={keys}
        onChange={(keyId) => change({ keyId })}
      />
      <Choice
        label="API"
        all="Both APIs"
        value={filter.door}
        choices={DOORS.map((door) => ({ value: door, label: DOOR_NAMES[door] }))}
        onChange={(door) => change({ door: DOORS.find((each) => each === door) })}
      />
      <Choice
        label="Operation"
        all="All operations"
        value={filter.operation}
        choices={names(data?.project.operations.series)}
        onChange={(operation) => change({ operation })}
      />
      <Choice
        label="Status"
        all="All statuses"
        value={filter.status?.toString()}
        choices={names(data?.project.statuses.series).sort((a, b) => a.value.localeCompare(b.value))}
        onChange={(status) => change({ status: status === undefined ? undefined : Number(status) })}
      />
      <RequestIdField value={filter.requestId ?? ''} onSubmit={(requestId) => change({ requestId })} />
    </div>
  );
}

interface RequestIdProps {
  value: string;
  onSubmit: (requestId: string | undefined) => void;
}

function RequestIdField({ value, onSubmit }: RequestIdProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(text.trim() || undefined);
      }}
    >
      <Labelled label="Request id">
        {(id) => (
          <input
            id={id}
            type="search"
            value={text}
            placeholder="X-Request-Id"
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => {
              setText(event.target.value);
              if (event.target.value === '' && value !== '') onSubmit(undefined);
            }}
            onPaste={(event) => {
              const pasted = event.clipboardData.getData('text').trim();
              if (text !== '' || pasted === '') return;
              event.preventDefault();
              onSubmit(pasted);
            }}
          />
        )}
      </Labelled>
    </form>
  );
}
