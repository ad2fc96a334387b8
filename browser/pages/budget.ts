/**
 * The remaining quota of a response as text; null = the response does not show it. Draft: RateLimit header fields for
 * HTTP.
 */
export function budgetOf(headers: Headers): string | null {
  const words: Record<string, string> = { day: 'today' };
  const limits = windows(headers.get('ratelimit-policy'), 'q');
  const left = windows(headers.get('ratelimit'), 'r');
  const parts = [...left].map(([name, remaining]) => {
    const limit = limits.get(name);
    return `${count(remaining)}${limit === undefined ? '' : ` of ${count(limit)}`} ${words[name] ?? `this ${name}`}`;
  });
  return parts.length === 0 ? null : `${parts.join(', ')} left`;
}

/** `"minute";q=60;w=60, "day";q=1000;w=86400` with `q` → minute: 60, day: 1000. */
function windows(field: string | null, parameter: string): Map<string, number> {
  const items = (field ?? '').matchAll(/"([^"]+)"([^,]*)/g);
  return new Map(
    [...items].flatMap(([, name = '', parameters = '']) => {
      const [, value] = new RegExp(`;\\s*${parameter}=(\\d+)`).exec(parameters) ?? [];
      return value === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

function count(number: number): string {
  return number.toLocaleString('en');
}
