import type { CountedRequest } from '../../../src/ground/kernel/answered-request.js';

let requests = 0;

/** A request as the doors record it, of a new project unless the test names a project. */
export function countedRequest(facts: Partial<CountedRequest> = {}): CountedRequest {
  requests += 1;
  return {
    atMs: 0,
    requestId: `request-${requests}`,
    projectId: BigInt(requests),
    keyId: 1n,
    door: 'rest',
    method: 'GET',
    route: '/v1/toys',
    operation: 'listToys',
    status: 200,
    code: null,
    outcome: 'ok',
    durationMs: 1,
    paidBy: 'plan',
    isDashboardRead: false,
    units: 1,
    strikeBy: null,
    ...facts,
  };
}
