import { NOUNS } from '../../../gateway.js';
import { inSentence, withoutStop } from '../../../nouns.js';
import type { ApiKeyScope } from '../graphql/generated.js';
import { scopeOf } from '../items/item.js';
import { scopeName } from '../session/needs-scope.js';
import { useSession } from '../session/signed-in.js';

const SCOPES: readonly { scope: ApiKeyScope; allows: string }[] = [
  ...NOUNS.flatMap((noun) => [
    { scope: scopeOf(noun, 'READ'), allows: `see ${noun.plural}` },
    { scope: scopeOf(noun, 'WRITE'), allows: `add and change ${noun.plural}` },
    ...(noun.actions ?? []).map(({ name, description }) => ({
      scope: scopeOf(noun, name),
      allows: inSentence(withoutStop(description)),
    })),
  ]),
  { scope: 'DOMAINS', allows: 'see and change domains, publish' },
  { scope: 'KEYS', allows: 'see, create, roll and revoke keys' },
];

interface Props {
  chosen: readonly ApiKeyScope[];
  onChange: (scopes: readonly ApiKeyScope[]) => void;
}

export function ScopeChoice({ chosen, onChange }: Props) {
  const { apiKey } = useSession();
  return (
    <fieldset>
      <legend>Scopes: what the key may do</legend>
      {SCOPES.map(({ scope, allows }) => (
        <label key={scope} className="check">
          <input
            type="checkbox"
            disabled={!apiKey.scopes.includes(scope)}
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
            }
          />
          <span>
            <code>{scopeName(scope)}</code> {allows}
            {!apiKey.scopes.includes(scope) && (
              <span className="hint"> (the key of this session lacks it)</span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
