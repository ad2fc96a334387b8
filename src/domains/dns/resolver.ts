import { getServers } from 'node:dns';
import type { DnsServer } from '../../ground/config/config.js';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import { type Asker, askServer } from './ask-server.js';
import { type Answer, DnsUnreachable, type Question } from './dns-message.js';

/** The longest time for a question, over all servers. */
const QUESTION_MS = 1_000;
/** After this time without an answer the next server is asked too; the first good answer wins. */
const HEAD_START_MS = 400;

/** The platform itself. */
const NO_PROJECT = 0n;

interface ResolverAsk {
  asker?: Asker | undefined;
  /** Also returns answers that fail DNSSEC validation. */
  checkingDisabled?: boolean;
  timeoutMs?: number;
}

/** Asks recursive resolvers; without `servers`, the resolvers of the system. Caches nothing. D-67. */
export class Resolver {
  private readonly servers: readonly DnsServer[];

  constructor(
    servers: readonly DnsServer[],
    private readonly now: () => number,
  ) {
    this.servers = servers.length > 0 ? servers : getServers().map(systemServer);
  }

  /**
   * The first decisive answer: NOERROR or NXDOMAIN. When no server gives one, the first other answer.
   * Settles within `timeoutMs` (1 s). Throws `DnsUnreachable` when no server answered.
   */
  ask(
    question: Question,
    { asker, checkingDisabled = false, timeoutMs = QUESTION_MS }: ResolverAsk = {},
  ): Promise<Answer> {
    return withTimeLimit(timeoutMs, asker?.signal, async (end) => {
      const attempts: Promise<Answer | DnsUnreachable>[] = [];
      for (const server of this.servers) {
        const options = {
          recursionDesired: true,
          checkingDisabled,
          timeoutMs,
          asker: { projectId: asker?.projectId ?? NO_PROJECT, signal: end },
          now: this.now,
        };
        attempts.push(askServer(server, question, options).catch((error: DnsUnreachable) => error));
        const decided = await Promise.race([firstDecided(attempts), headStart(end)]);
        if (decided) return decided;
      }
      const decided = await firstDecided(attempts);
      if (decided) return decided;
      const outcomes = await Promise.all(attempts);
      const said = outcomes.find((outcome): outcome is Answer => !(outcome instanceof DnsUnreachable));
      if (said) return said;
      const nobody = { address: '0.0.0.0', port: 53 };
      throw outcomes[0] ?? new DnsUnreachable(nobody, question, 'unreachable', this.now());
    });
  }
}

function isDecided(outcome: Answer | DnsUnreachable): outcome is Answer {
  return !(outcome instanceof DnsUnreachable) && ['NOERROR', 'NXDOMAIN'].includes(outcome.rcode);
}

/** Null when all attempts ended without a decisive answer. */
function firstDecided(attempts: readonly Promise<Answer | DnsUnreachable>[]): Promise<Answer | null> {
  return new Promise((resolve) => {
    for (const attempt of attempts) attempt.then((outcome) => isDecided(outcome) && resolve(outcome));
    Promise.all(attempts).then(() => resolve(null));
  });
}

function headStart(end: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, HEAD_START_MS, null);
    end.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}

/** Parses an entry of `dns.getServers()`: `9.9.9.9`, `2620:fe::fe`, `[2620:fe::fe]:5353`, `9.9.9.9:5353`. */
function systemServer(text: string): DnsServer {
  const [, bracketed, bracketedPort] = /^\[(.+)\](?::(\d+))?$/.exec(text) ?? [];
  if (bracketed) return { address: bracketed, port: Number(bracketedPort ?? 53) };
  const [, v4, v4Port] = /^([\d.]+):(\d+)$/.exec(text) ?? [];
  return v4 ? { address: v4, port: Number(v4Port) } : { address: text, port: 53 };
}
