import { useState } from 'react';
import { Menu } from '../elements/menu.js';
import { Moment } from '../elements/moment.js';
import { useNow } from '../elements/now.js';
import type { KeyPartsFragment } from '../graphql/generated.js';
import { scopeName } from '../session/needs-scope.js';
import { stateOf } from './key-state.js';
import { RevokeKey } from './revoke-key.js';
import { RollKey } from './roll-key.js';

interface Act {
  kind: 'roll' | 'revoke';
  key: KeyPartsFragment;
}

export function KeyTable({ keys }: { keys: readonly KeyPartsFragment[] }) {
  const now = useNow();
  const [act, setAct] = useState<Act | null>(null);
  const close = () => setAct(null);
  return (
    <>
      <table className="stacked">
        <caption className="unseen">API keys of the project</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Begins with</th>
            <th scope="col">Scopes</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="unseen">Acts</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => {
            const state = stateOf(key, now);
            return (
              <tr key={key.id} className={state === 'in force' ? undefined : 'past'}>
                <th scope="row" data-head="Name">
                  <bdi>{key.name}</bdi>{' '}
                  {key.isCurrent && <span className="badge badge-good">this session</span>}
                </th>
                <td data-head="Begins with">
                  <code>{key.prefix}…</code>
                </td>
                <td data-head="Scopes">
                  {key.scopes.length === 0 ? 'none' : key.scopes.map(scopeName).join(', ')}
                </td>
                <td data-head="Last used">{key.lastUsedAt ? <Moment at={key.lastUsedAt} /> : 'never'}</td>
                <td data-head="Expires">{key.expiresAt ? <Moment at={key.expiresAt} /> : 'never'}</td>
                <td data-head="State">
                  <span className={`badge badge-${state === 'in force' ? 'good' : 'idle'}`}>{state}</span>
                </td>
                <td className="row-acts">
                  {state === 'in force' && (
                    <Menu
                      label={`Acts on the key ${key.name}`}
                      items={[
                        { label: 'Roll…', onChoose: () => setAct({ kind: 'roll', key }) },
                        { label: 'Revoke…', isDanger: true, onChoose: () => setAct({ kind: 'revoke', key }) },
                      ]}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {act?.kind === 'roll' && <RollKey apiKey={act.key} onClose={close} />}
      {act?.kind === 'revoke' && <RevokeKey apiKey={act.key} onClose={close} />}
    </>
  );
}
