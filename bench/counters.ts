/** The work of a gateway since its start, by its own metrics. */
export interface Counters {
  /** Answers with status 200. */
  answered: number;
  shed: number;
  cpuSeconds: number;
  /** Of the collector of V8; part of `cpuSeconds`. */
  gcSeconds: number;
}

const SERIES: Record<keyof Counters, RegExp> = {
  answered: /^http_server_request_duration_seconds_count\{.*status="200".*\} (\S+)$/gm,
  shed: /^petstore_requests_shed_total\{.*\} (\S+)$/gm,
  cpuSeconds: /^process_cpu_seconds_total (\S+)$/gm,
  gcSeconds: /^nodejs_gc_duration_seconds_sum\{.*\} (\S+)$/gm,
};

/** Reads them from the page of `METRICS_PORT`. */
export async function countersOf(metricsUrl: string): Promise<Counters> {
  const page = await (await fetch(metricsUrl)).text();
  return byName((name) => sum([...page.matchAll(SERIES[name])].map(([, value]) => Number(value))));
}

export function increase(from: Counters, to: Counters): Counters {
  return byName((name) => to[name] - from[name]);
}

function byName(read: (name: keyof Counters) => number): Counters {
  const names = Object.keys(SERIES) as (keyof Counters)[];
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<keyof Counters, number>;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
