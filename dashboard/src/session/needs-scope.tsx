import type { ReactNode } from 'react';
import { Notice } from '../elements/notice.js';
import type { ApiKeyScope } from '../graphql/generated.js';
import { useSession } from './signed-in.js';

interface Props {
  scope: ApiKeyScope;
  /** What the scope is for, such as `see the pets`. */
  to: string;
  children: ReactNode;
}

/** Says plainly what the key may not do, instead of asking the gateway to refuse it. */
export function NeedsScope({ scope, to, children }: Props) {
  const { apiKey } = useSession();
  if (apiKey.scopes.includes(scope)) return children;
  return (
    <Notice tone="warn" title={`This API key may not ${to}.`}>
      <p>
        It lacks the scope <code>{scopeName(scope)}</code>. Sign out and sign in with a key that has it, or
        have one made by a colleague whose key has the scope <code>keys</code>.
      </p>
    </Notice>
  );
}

/** As the command line and the gateway's own messages write it: `pets:read`. */
export function scopeName(scope: ApiKeyScope): string {
  return scope.toLowerCase().replace('_', ':');
}
