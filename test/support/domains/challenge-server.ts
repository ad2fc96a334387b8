import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChallengeServer {
  port: number;
  /** The requested challenges, as `shop.test/token`. */
  asked: string[];
  stop(): Promise<void>;
}

const PATH = /^\/\.well-known\/acme-challenge\/([^/?]+)$/;

/** Plays the gateway's HTTP door for a CA that validates: returns what `answer` returns, else 404. */
export async function startChallengeServer(
  answer: (token: string, hostname: string) => Promise<string | null>,
): Promise<ChallengeServer> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const [, token = ''] = PATH.exec(request.url ?? '') ?? [];
    const hostname = (request.headers.host ?? '').replace(/:\d+$/, '');
    asked.push(`${hostname}/${token}`);
    const text = await answer(token, hostname).catch(() => null);
    response.writeHead(text === null ? 404 : 200, { 'content-type': 'text/plain' });
    response.end(text ?? 'not found');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
