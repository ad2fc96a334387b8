import type { ReactNode } from 'react';
import { SCOPES } from '../../../gateway.js';
import { Notice } from '../elements/notice.js';
import type { ApiKeyScope } from '../graphql/generated.js';
import { useSession } from './signed-in.js';

interface Props {
  scope: ApiKeyScope;
  /** The purpose of the scope, such as `see the acts`. */
  to: string;
  children: ReactNode;
}

/** Names the scope that the key lacks, instead of letting the gateway refuse a request. */
export function NeedsScope({ scope, to, children }: Props) {
  const { apiKey } = useSession();
  if (apiKey.scopes.includes(scope)) return children;
  return (
    <Notice tone="warn" title={`This API key may not ${to}.`}>
      <p>
        It lacks the scope <code>{scopeName(scope)}</code>. Sign out and sign in with a key that has it. A
        colleague whose key has the scope <code>keys</code> can create one.
      </p>
    </Notice>
  );
}

/** In the form of the command line and the gateway's messages: `domains`, or a noun with `:read`. */
export function scopeName(scope: ApiKeyScope): string {
  const name = SCOPES.find((each) => each.replace(':', '_').toUpperCase() === scope);
  return name ?? scope.toLowerCase().replace('_', ':');
}
