import type { FastifyRequest } from 'fastify';
import { type ExecutionArgs, execute } from 'graphql';
import { EventLoopTurns } from '../../../ground/scheduling/event-loop-turns.js';
import type { Context } from '../execution/context.js';
import { formatError, logFaults } from '../execution/errors.js';

/** Results in memory: about 8 MB. */
const MOST_CHARACTERS = 4_000_000;
/** The memory of a result without its text. */
const RESULT_CHARACTERS = 100;
/** The largest operations take some milliseconds. */
const RESULTS_PER_TURN = 4;

/** For the faults of a stream. The logger that Fastify makes for each request takes almost a kilobyte. */
export function loggerOf({ server, id }: FastifyRequest): Pick<FastifyRequest, 'log'> {
  return { log: server.log.child({ requestId: id }) };
}

/** The operation of a stream. */
export interface StreamOperation {
  readonly args: ExecutionArgs;
  /** Names the operation and its variables. */
  readonly asked: string;
}

/**
 * The results of events. Streams with the same operation share them, and streams that do not take turns: a hundred
 * different ones that follow a hundred changes would stop every other request for seconds.
 */
export class StreamResults {
  private shared = new WeakMap<object, Map<string, Promise<string>>>();
  private characters = 0;
  private readonly turns = new EventLoopTurns(RESULTS_PER_TURN);

  /** The result of the event as JSON. `present` makes its value. */
  of<Event extends object>(
    event: Event,
    { args, asked }: StreamOperation,
    { projectId, present }: { projectId: bigint; present: (event: Event) => unknown },
  ): Promise<string> {
    const known = this.shared.get(event) ?? new Map<string, Promise<string>>();
    this.shared.set(event, known);
    // Kept as a promise: all streams ask for it before the first one has it.
    const result =
      known.get(asked) ?? this.turns.next(projectId).then(() => this.execute(args, present(event)));
    known.set(asked, result);
    return result;
  }

  private async execute(args: ExecutionArgs, rootValue: unknown): Promise<string> {
    const { data, errors } = await execute({ ...args, rootValue });
    if (errors) logFaults(errors, loggerOf((args.contextValue as Context).request));
    const shown = errors && { errors: errors.map((error) => formatError(error.toJSON(), error)) };
    const result = JSON.stringify({ data, ...shown });
    this.characters += RESULT_CHARACTERS + result.length;
    if (this.characters > MOST_CHARACTERS) {
      this.shared = new WeakMap();
      this.characters = 0;
    }
    return result;
  }
}
