import type { Client, RequestConfig, ResponseErrorConfig } from '@kubb/plugin-client/clients/fetch';
import { readExactly, writeExactly } from './exact-json.js';
import { gateway } from './gateway.js';

export type { Client, RequestConfig, ResponseErrorConfig };

/** Kubb's `importPath`: each generated function sends its request through it. */
const client: Client = async ({ method = 'GET', url = '', data, headers: own }) => {
  const { baseUrl, headers } = gateway();
  const response = await fetch(`${baseUrl}${url}`, {
    method,
    headers: {
      ...Object.fromEntries(Object.entries(own ?? {})),
      ...headers,
      'Content-Type': 'application/json',
    },
    ...(data === undefined ? {} : { body: writeExactly(data) }),
  });
  const { status, statusText, headers: answered } = response;
  return { data: readExactly(await response.text()) as never, status, statusText, headers: answered };
};
export default client;
