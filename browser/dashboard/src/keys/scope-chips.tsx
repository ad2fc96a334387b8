import type { ApiKeyScope } from '../graphql/generated.js';
import { scopeName } from '../session/needs-scope.js';

export function ScopeChips({ scopes }: { scopes: readonly ApiKeyScope[] }) {
  if (scopes.length === 0) return <span className="muted">none</span>;
  return (
    <span className="chips">
      {scopes.map((scope) => (
        <span key={scope} className="chip">
          {scopeName(scope)}
        </span>
      ))}
    </span>
  );
}
