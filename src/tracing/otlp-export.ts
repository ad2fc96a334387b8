import { setTimeout as sleep } from 'node:timers/promises';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

const ATTEMPTS = 3;
const ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;
/** OTLP/HTTP: every other refusal is final. */
const TEMPORARY = new Set([429, 502, 503, 504]);

interface Collector {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Returns a function that sends spans as OTLP in JSON, and returns whether the collector has taken them. OpenTelemetry's
 * own exporter also reads settings of the environment that `config` does not know.
 */
export function otlpExport({ url, headers }: Collector): (spans: ReadableSpan[]) => Promise<boolean> {
  const attempt = async (body: Uint8Array<ArrayBuffer>): Promise<number> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    await response.body?.cancel();
    return response.status;
  };
  return async (spans) => {
    const body = JsonTraceSerializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>;
    for (let number = 1; ; number += 1) {
      // Without an answer it may be there again soon.
      const status = await attempt(body).catch(() => 503);
      if (status < 300) return true;
      if (!TEMPORARY.has(status) || number === ATTEMPTS) return false;
      await sleep(PAUSE_MS * number * (0.5 + Math.random()), undefined, { ref: false });
    }
  };
}
