import type { Attributes, Tracer } from './tracer.js';

/** The same function, each call of which is a span: below the current one, or of a trace of its own in the background. */
export function tracedTask<Args extends unknown[], Result>(
  tracer: Tracer,
  name: string,
  run: (...args: Args) => Promise<Result>,
  describe: (...args: Args) => Attributes,
): (...args: Args) => Promise<Result> {
  return (...args) => tracer.withinTask(name, describe(...args), () => run(...args));
}
