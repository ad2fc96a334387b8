import { CopyButton } from '../elements/copy-button.js';
import type { DomainDetailFragment } from '../graphql/generated.js';

interface Props {
  records: DomainDetailFragment['instructions'];
}

const TYPES = { CNAME: 'CNAME', ALIAS: 'ALIAS or ANAME', TXT: 'TXT' } as const;

export function RecordTable({ records }: Props) {
  return (
    <table className="stacked records">
      <thead>
        <tr>
          <th scope="col">Type</th>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
          <th scope="col">TTL</th>
        </tr>
      </thead>
      <tbody>
        {records.map(({ type, name, label, value, ttl }) => (
          <tr key={`${type} ${name}`}>
            <td data-head="Type">{TYPES[type]}</td>
            <td data-head="Name">
              <div className="record-names">
                <Name head="Most providers" text={label} what={`the short name of the ${type} record`} />
                <Name head="In full" text={name} what={`the name of the ${type} record`} />
              </div>
            </td>
            <td data-head="Value">
              <span className="copyable">
                <code title={value}>{value}</code>
                <CopyButton text={value} what={`the value of the ${type} record`} />
              </span>
            </td>
            <td data-head="TTL">
              <span className="whole">{ttl} s</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The short name is for providers that append the zone, the full name for all others. */
function Name({ head, text, what }: { head: string; text: string; what: string }) {
  return (
    <span className="copyable">
      <span className="label">{head}</span>
      <code title={text}>{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  );
}
