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
        {records.map(({ type, name, value, ttl }) => (
          <tr key={`${type} ${name}`}>
            <td data-head="Type">{TYPES[type]}</td>
            <td data-head="Name">
              <span className="copyable">
                <code>{name}</code>
                <CopyButton text={name} what={`the name of the ${type} record`} />
              </span>
            </td>
            <td data-head="Value">
              <span className="copyable">
                <code>{value}</code>
                <CopyButton text={value} what={`the value of the ${type} record`} />
              </span>
            </td>
            <td data-head="TTL">{ttl}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
