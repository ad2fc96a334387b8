import { KeepAliveClient } from '../keep-alive-client.js';

interface Flood {
  url: string;
  token: string;
  connections: number;
  /** Either so many, or until `isOver`. */
  requests?: number;
  isOver?: () => boolean;
  /** The body of each request; counted from 0. */
  bodyAt: (index: number) => unknown;
}

/** Sends requests to `/graphql`, on all connections at once, and counts the answers by their status. */
export async function sendDocuments({
  url,
  token,
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
      const { status } = await client.send('/graphql', { method: 'POST', body });
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: connections }, sendOn));
  return answers;
}
