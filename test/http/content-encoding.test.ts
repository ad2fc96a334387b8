import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const BODIES = {
  '/v1/toys': '{"name":"Rex","categoryId":1}',
  '/graphql': '{"query":"{ toys { nodes { id } } }"}',
};

test.each(Object.entries(BODIES))(
  'Bodies-7: %s refuses a compressed body with 415, which names the coding and costs a unit',
  async (path, text) => {
    const { token } = await app.tenant();
    const send = (coding: string, body: string | Uint8Array = text, type = 'application/json') =>
      rest(app.url, path, {
        method: 'POST',
        token,
        body,
        headers: { 'content-encoding': coding, 'content-type': type },
      });
    const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'));
    const before = await send('identity');
    expect(before.status).toBeLessThan(300);
    const refused = await send('gzip', new Uint8Array(gzipSync(text)));
    expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    const message = 'The body has the Content-Encoding gzip. Send it uncompressed.';
    expect(refused.body).toEqual(
      path === '/v1/toys'
        ? { code: 'unsupported_media_type', message, status: 415 }
        : { errors: [{ message, extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 } }] },
    );
    expect(remaining(before) - remaining(refused)).toBe(1);
    for (const coding of ['br', 'identity, x-gzip', 'x'.repeat(500)]) {
      const { status, text } = await send(coding);
      expect([coding, status, text.length < 250]).toEqual([coding, 415, true]);
    }
    expect((await send('Identity, identity,')).status).toBeLessThan(300);
    // The reason is another one. RFC 9110 §12.5.3.
    const other = await send('identity', text, 'text/plain');
    expect([other.status, other.headers.get('accept-encoding')]).toEqual([415, null]);
  },
);
