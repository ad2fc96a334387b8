import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Step {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  stop(): Promise<void>;
}

/** Answers with one step after the other; the last one repeats. `cut` = the connection ends without an answer, `silent` = no answer. */
export async function scriptedServer(steps: readonly (Step | 'cut' | 'silent')[]): Promise<ScriptedServer> {
  const requests: ScriptedServer['requests'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const step = steps[Math.min(requests.length, steps.length - 1)];
    requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    if (step === 'cut') request.socket.destroy();
    else if (step !== 'silent' && step) {
      response
        .writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
        .end(step.body ?? '');
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async stop() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
