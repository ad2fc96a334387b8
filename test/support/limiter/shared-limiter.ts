import { rest } from '../http/client.js';
import { freePort } from '../servers/daemon.js';

/** The counts of a gateway process about its limiter. Exact when a request is answered; its log comes later. */
interface LimiterCounts {
  /** Outages of Redis that it has noticed. */
  outages: number;
  /** Requests that it decided without Redis. */
  localDecisions: number;
}

/** Returns settings that give a gateway process metrics, and a function that reads the counts of its limiter. */
export async function countedLimiter(): Promise<{
  env: { METRICS_PORT: string };
  read(): Promise<LimiterCounts>;
}> {
  const METRICS_PORT = String(await freePort());
  return {
    env: { METRICS_PORT },
    async read() {
      const { text } = await rest(`http://127.0.0.1:${METRICS_PORT}`, '/metrics');
      const total = (name: string) => {
        const [, digits] = new RegExp(`^petstore_rate_limit_${name}_total (\\d+)$`, 'm').exec(text) ?? [];
        if (digits === undefined) throw new Error(`the metrics lack ${name}`);
        return Number(digits);
      };
      return { outages: total('outages'), localDecisions: total('local_decisions') };
    },
  };
}
