import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS = 3;
const ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;
/** OTLP/HTTP: every other refusal is final. */
const TEMPORARY = new Set([429, 502, 503, 504]);

interface Collector {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** Returns a function that sends OTLP in JSON, and returns whether the collector has taken it. */
export function otlpExport({ url, headers }: Collector): (json: string) => Promise<boolean> {
  // `fetch` takes twice the processor time for such bodies.
  const { request, Agent } = url.startsWith('https:') ? https : http;
  const agent = new Agent({ keepAlive: true });
  const attempt = (body: Buffer) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      sent.once('error', reject);
      // Node closes the connection after `101 Switching Protocols`, without an error and without a response.
      sent.once('close', () => reject(new Error('the collector has closed the connection')));
      sent.once('response', (response) => {
        response.once('error', reject);
        // Read to its end, so that the connection is used again.
        response.once('end', () => resolve(response.statusCode ?? 0)).resume();
      });
      sent.end(body);
    });
  return async (json) => {
    const body = Buffer.from(json);
    for (let number = 1; ; number += 1) {
      // Without an answer it may be there again soon.
      const status = await attempt(body).catch(() => 503);
      if (status < 300) return true;
      if (!TEMPORARY.has(status) || number === ATTEMPTS) return false;
      await sleep(PAUSE_MS * number * (0.5 + Math.random()), undefined, { ref: false });
    }
  };
}
