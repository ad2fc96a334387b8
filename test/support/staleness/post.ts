import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Request } from './operations.js';

/** Headers that belong to one request or its connection. */
const OWN = /^(date|x-request-id|x-ratelimit-.*|ratelimit.*|keep-alive|connection)$/;

/** An answer without the headers that differ for each request. */
export interface Posted {
  status: number | undefined;
  headers: Record<string, unknown>;
  body: string;
}

/** Sends the body with no other headers than given. */
export function post(url: string, token: string, { body, accept }: Request): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(accept === undefined ? {} : { accept }),
    };
    request(`${url}/graphql`, { method: 'POST', headers }, (response) => {
      const kept = Object.entries(response.headers).filter(([name]) => !OWN.test(name));
      const answer = { status: response.statusCode, headers: Object.fromEntries(kept) };
      text(response).then((body) => resolve({ ...answer, body }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}
