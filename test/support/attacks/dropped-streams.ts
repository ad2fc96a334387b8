import { eventually } from '../eventually.js';
import { rest } from '../http/client.js';
import { RawClient } from './raw-client.js';
import { isLive, streamRequest } from './raw-streams.js';

const CONNECTIONS = 50;
const WRITE_EVERY_MS = 50;

/** Opens streams while toys are created. Half of the clients leave before the answer, the others after it or after a change. */
export async function dropStreams(gateway: { url: string; port: number }, token: string, count: number) {
  let opened = 0;
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      await rest(gateway.url, '/v1/toys', { method: 'POST', token, body: { name: 'Rex', categoryId: 1 } });
      await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS));
    }
  };
  const drop = async () => {
    while (opened < count) {
      const number = opened++;
      const client = await RawClient.open(gateway);
      await new Promise((resolve) => client.socket.write(streamRequest(token), resolve));
      const isClosed = () => client.lastedMs !== null;
      if (number % 4 === 2) await eventually('an answer', () => isLive(client) || isClosed(), undefined, 1);
      if (number % 4 === 3) {
        await eventually('a change', () => client.received.includes('event: next') || isClosed());
      }
      if (isClosed()) throw new Error(client.received);
      client.leave();
    }
  };
  const writing = write();
  await Promise.all(Array.from({ length: CONNECTIONS }, drop)).finally(() => {
    isOver = true;
  });
  await writing;
}
