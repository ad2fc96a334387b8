import { type ServiceCall, serviceCall } from '../../src/ground/kernel/caller.js';
import { SCOPES } from './gateway/tested-gateway.js';
import type { Tenant } from './start-app.js';

/** The call of a service for a project, as a key with these scopes makes it. */
export function callAs(
  { keyId, projectId }: Pick<Tenant, 'keyId' | 'projectId'>,
  scopes = SCOPES,
): ServiceCall {
  const quota = { perMinute: 1, perDay: 1 };
  return serviceCall(
    { keyId, projectId, quota, scopes: new Set(scopes), rehearses: false, changesSinceMs: null },
    { requestId: 'test' },
    null,
  );
}
