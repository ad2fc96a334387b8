import type { Attributes, Tracer } from './tracer.js';

/** Wraps a function so that each call is a span. In the background, where no span is current, the call begins a trace. */
export function tracedTask<Args extends unknown[], Result>(
  tracer: Tracer,
  name: string,
  run: (...args: Args) => Promise<Result>,
  describe: (...args: Args) => Attributes,
): (...args: Args) => Promise<Result> {
  return (...args) => tracer.withinTask(name, describe(...args), () => run(...args));
}
