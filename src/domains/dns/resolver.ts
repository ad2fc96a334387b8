import { getServers } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DnsServer, dnsServer } from '../../ground/config/values.js';
import { withTimeLimit } from '../../ground/kernel/deadline.js';
import { type Asker, askServer } from './ask-server.js';
import { type Answer, DnsUnreachable, isDecisive, type Question } from './dns-message.js';

/** The longest time for a question, over all servers. */
const QUESTION_MS = 1_000;
/** After this time without an answer the next server is asked too; the first good answer wins. */
const HEAD_START_MS = 400;

/** The platform itself. */
const NO_PROJECT = 0n;
/** Named when the system has no resolver. */
const NOBODY = { address: '0.0.0.0', port: 53 };

/** Asks recursive resolvers; without `servers`, the resolvers of the system. Caches nothing. D-67. */
export class Resolver {
  private readonly servers: readonly DnsServer[];

  constructor(
    servers: readonly DnsServer[],
    private readonly now: () => number,
  ) {
    this.servers = servers.length > 0 ? servers : getServers().map((entry) => dnsServer('nameserver', entry));
  }

  /**
   * The first decisive answer: NOERROR or NXDOMAIN. When no server gives one, the first other answer, or `DnsUnreachable`.
   * Settles within 1 s. With `checkingDisabled` also answers that fail DNSSEC validation.
   */
  ask(
    question: Question,
    { asker, checkingDisabled = false }: { asker?: Asker | undefined; checkingDisabled?: boolean } = {},
  ): Promise<Answer> {
    return withTimeLimit(QUESTION_MS, asker?.signal, async (signal) => {
      const { projectId = NO_PROJECT } = asker ?? {};
      const options = {
        recursionDesired: true,
        checkingDisabled,
        timeoutMs: QUESTION_MS,
        asker: { projectId, signal },
        now: this.now,
      };
      const asked: Promise<Answer>[] = [];
      for (const server of this.servers) {
        asked.push(askServer(server, question, options));
        const headStart = sleep(HEAD_START_MS, null, { signal }).catch(() => null);
        const decided = await Promise.race([firstDecisive(asked), headStart]);
        if (decided) return decided;
      }
      const decided = await firstDecisive(asked);
      if (decided) return decided;
      const answers = await Promise.all(asked);
      const said = answers.find((answer) => !(answer instanceof DnsUnreachable)) ?? answers[0];
      return said ?? new DnsUnreachable(NOBODY, question, 'unreachable', this.now());
    });
  }
}

/** Null when all servers have answered, and none decisively. */
function firstDecisive(asked: readonly Promise<Answer>[]): Promise<Answer | null> {
  const decisive = asked.map(async (answering) => {
    const answer = await answering;
    if (!isDecisive(answer)) throw answer;
    return answer;
  });
  return Promise.any(decisive).catch(() => null);
}
