import { readExactly } from './exact-json.js';
import { gateway } from './gateway.js';

/** Orval's mutator: each generated function sends its request through it. */
export async function exactFetch<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const { baseUrl, headers } = gateway();
  const response = await fetch(`${baseUrl}${url}`, { ...init, headers: { ...init.headers, ...headers } });
  const data = readExactly(await response.text());
  return { status: response.status, headers: response.headers, data } as Answer;
}
