import { KeepAliveClient } from '../http/keep-alive-client.js';

interface Flood {
  url: string;
  token: string;
  path: string;
  connections: number;
  /** Stops after this many requests, or when `isOver` returns true. */
  requests?: number;
  isOver?: () => boolean;
  /** Returns the body of each request; the index counts from 0. */
  bodyAt: (index: number) => unknown;
}

/** Posts bodies to a path on all connections at once, and counts the answers by status. */
export async function sendDocuments({
  url,
  token,
  path,
  connections,
  requests = Number.POSITIVE_INFINITY,
  isOver = () => false,
  bodyAt,
}: Flood): Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  let next = 0;
  const sendOn = async () => {
    const client = new KeepAliveClient(url, token);
    while (next < requests && !isOver()) {
      const body = bodyAt(next);
      next += 1;
      const { status } = await client.send(path, { method: 'POST', body });
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: connections }, sendOn));
  return answers;
}
