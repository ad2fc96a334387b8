import { useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { Moment } from '../elements/moment.js';
import { useAtNow } from '../elements/now.js';
import { type KeyPartsFragment, KeyUseDocument } from '../graphql/generated.js';
import { type KeyAct, KeyMenu } from './key-menu.js';
import { KeySparkline } from './key-sparkline.js';
import { banEndOf, hasEnded } from './key-state.js';
import { KeyStateCell } from './key-state-cell.js';
import { LiftBan } from './lift-ban.js';
import { RenameKey } from './rename-key.js';
import { RevokeKey } from './revoke-key.js';
import { RollKey } from './roll-key.js';
import { ScopeChips } from './scope-chips.js';

interface Act {
  kind: KeyAct;
  key: KeyPartsFragment;
}

/** Valid keys come first, then the keys that ended; both newest first. */
export function KeyTable({ keys }: { keys: readonly KeyPartsFragment[] }) {
  const [act, setAct] = useState<Act | null>(null);
  const close = () => setAct(null);
  const { data: used } = useQuery(KeyUseDocument, { fetchPolicy: 'cache-and-network' });
  const strikesOf = (id: string) => used?.project.strikingClients.filter(({ keyId }) => keyId === id) ?? [];
  // Renders again when a key or a ban ends.
  useAtNow((nowMs) => keys.filter((key) => hasEnded(key, nowMs)).length);
  useAtNow((nowMs) => keys.filter((key) => banEndOf(key, nowMs) !== null).length);
  const isOver = (key: KeyPartsFragment) => hasEnded(key, Date.now());
  const sorted = [...keys.filter((key) => !isOver(key)), ...keys.filter(isOver)];
  return (
    <>
      <table className="stacked">
        <caption className="unseen">API keys of the project</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Scopes</th>
            <th scope="col">Last 24 hours</th>
            <th scope="col">Last used</th>
            <th scope="col">State</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((key) => (
            <tr key={key.id} className={isOver(key) ? 'past' : undefined}>
              <th scope="row" data-head="Key">
                <span className="key-name">
                  <span>
                    <bdi>{key.name}</bdi>
                    {key.isCurrent && <span className="badge badge-good">this session</span>}
                  </span>
                  <code>{key.prefix}…</code>
                </span>
              </th>
              <td data-head="Scopes">
                <ScopeChips scopes={key.scopes} />
              </td>
              <td data-head="Last 24 hours">
                {used && <KeySparkline use={used.project.use.series.find(({ name }) => name === key.id)} />}
              </td>
              <td data-head="Last used">{key.lastUsedAt ? <Moment at={key.lastUsedAt} /> : 'never'}</td>
              <td data-head="State">
                <KeyStateCell apiKey={key} keys={keys} strikingClients={strikesOf(key.id)} />
              </td>
              <td className="row-acts">
                <KeyMenu
                  apiKey={key}
                  isOver={isOver(key)}
                  isBanned={banEndOf(key, Date.now()) !== null}
                  onChoose={(kind) => setAct({ kind, key })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {act?.kind === 'rename' && <RenameKey apiKey={act.key} onClose={close} />}
      {act?.kind === 'roll' && <RollKey apiKey={act.key} onClose={close} />}
      {act?.kind === 'liftBan' && <LiftBan apiKey={act.key} onClose={close} />}
      {act?.kind === 'revoke' && <RevokeKey apiKey={act.key} onClose={close} />}
    </>
  );
}
