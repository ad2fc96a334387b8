import { ChevronRight } from 'lucide-react';
import { Fragment } from 'react';
import { clockTime } from '../elements/exact-time.js';
import { Moment } from '../elements/moment.js';
import type { RequestPartsFragment } from '../graphql/generated.js';
import { RequestDetails } from './request-details.js';
import { answerName, DOOR_NAMES, durationInWords, OUTCOME_TONES } from './request-names.js';

interface Props {
  requests: readonly RequestPartsFragment[];
  openId: string | null;
  onOpen: (id: string | null) => void;
}

const COLUMNS = ['Time', 'Status', 'Operation', 'API', 'API key', 'Duration'];

export function RequestTable({ requests, openId, onOpen }: Props) {
  return (
    <table className="stacked requests">
      <caption className="unseen">Requests, newest first</caption>
      <thead>
        <tr>
          {COLUMNS.map((column) => (
            <th
              key={column}
              scope="col"
              data-head={column}
              className={column === 'Duration' ? 'number' : undefined}
            >
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {requests.map((request) => {
          const isOpen = request.id === openId;
          return (
            <Fragment key={request.id}>
              <RequestRow
                request={request}
                isOpen={isOpen}
                onToggle={() => onOpen(isOpen ? null : request.id)}
              />
              {isOpen && (
                <tr className="request-open" id={`request-${request.id}`}>
                  <td colSpan={COLUMNS.length}>
                    <RequestDetails request={request} />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

interface RowProps {
  request: RequestPartsFragment;
  isOpen: boolean;
  onToggle: () => void;
}

function RequestRow({ request, isOpen, onToggle }: RowProps) {
  const { id, at, status, code, outcome, operation, door, keyName, keyPrefix, durationMs } = request;
  const name = answerName(request);
  return (
    // The button in the row does the same for the keyboard.
    <tr
      className={isOpen ? 'request-row is-open' : 'request-row'}
      onClick={() => window.getSelection()?.isCollapsed !== false && onToggle()}
    >
      <td data-head="Time">
        <span className="request-time">
          <span>{clockTime(at)}</span> <Moment at={at} />
        </span>
      </td>
      <td data-head="Status">
        <span className="request-status">
          <span className={`badge badge-${OUTCOME_TONES[outcome]}`} title={`HTTP ${status}`}>
            {name}
          </span>
          {code && code !== name && <code title={code}>{code}</code>}
        </span>
      </td>
      <th scope="row" data-head="Operation">
        <button
          type="button"
          className="quiet row-open"
          aria-expanded={isOpen}
          aria-controls={isOpen ? `request-${id}` : undefined}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <ChevronRight size={15} aria-hidden="true" />
          <span className="request-operation" title={operation}>
            {operation}
          </span>
        </button>
      </th>
      <td data-head="API">{DOOR_NAMES[door]}</td>
      <td data-head="API key">
        <span className="request-key" title={`${keyName} (${keyPrefix}…)`}>
          <bdi>{keyName}</bdi> <code>{keyPrefix}…</code>
        </span>
      </td>
      <td data-head="Duration" className="number whole">
        {durationInWords(durationMs)}
      </td>
    </tr>
  );
}
