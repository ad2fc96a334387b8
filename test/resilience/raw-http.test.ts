import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';

let database: TestDatabase;
let gateway: GatewayProcess;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase('sqlite');
  gateway = await startGateway({ env: { DATABASE_URL: database.url } });
  token = await createTenant(database.url);
});
afterAll(async () => {
  await gateway.kill('SIGKILL');
  await database.remove();
});

const TOY = '{"name":"A","categoryId":1}';
const get = (...headers: string[]) => request('GET /v1/toys HTTP/1.1', ...headers);
const post = (...headers: string[]) =>
  request('POST /v1/toys HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...headers);
const request = (line: string, ...headers: string[]) => keptAlive(line, ...headers, 'Connection: close');
const endless = (line: string) =>
  request(line, 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 90000');
const keptAlive = (line: string, ...headers: string[]) =>
  [line, ...headers, 'Authorization: Bearer TOKEN', '', ''].join('\r\n');
const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`);

/** The bytes sent and the status of the answer; after a refusal there is no further answer. */
const REFUSED: [what: string, sent: string, status: number][] = [
  ['no Host header', get(), 400],
  ['two Host headers', get('Host: localhost', 'Host: other.example'), 400],
  ['the same Host header twice', get('Host: localhost', 'host: localhost'), 400],
  ['a Host that is not a host name', get('Host: a"><script>'), 400],
  ['a Host with a space', get('Host: a b'), 400],
  ['a Host with user information', get('Host: user@localhost'), 400],
  ['an empty Host', get('Host:'), 400],
  [
    'absolute form for another host',
    request('GET http://other.example/v1/toys HTTP/1.1', 'Host: localhost'),
    400,
  ],
  [
    'absolute form for another scheme',
    request('GET ftp://localhost/v1/toys HTTP/1.1', 'Host: localhost'),
    400,
  ],
  ['CONNECT', request('CONNECT localhost:1 HTTP/1.1', 'Host: localhost'), 400],
  ['a header of more than 16 KB', get('Host: localhost', `X-Big: ${'a'.repeat(17_000)}`), 400],
  ['a path of more than 16 KB', request(`GET /${'a'.repeat(17_000)} HTTP/1.1`, 'Host: localhost'), 400],
  ['more than 100 headers', get('Host: localhost', ...many(120)), 400],
  ['a thousand headers', get('Host: localhost', ...many(1_000)), 400],
  ['a header name with a space', get('Host: localhost', 'X Y: 1'), 400],
  ['a folded header', get('Host: localhost', 'X-A: 1', ' 2'), 400],
  ['a bare carriage return in a header', get('Host: localhost', 'X-A: 1\r2'), 400],
  ['a NUL in a header', get('Host: localhost', 'X-A: 1\0'), 400],
  ['no request line', 'nonsense\r\n\r\n', 400],
  ['an unknown method', request('BREW /v1/toys HTTP/1.1', 'Host: localhost'), 400],
  ['an unknown version', request('GET /v1/toys HTTP/3.7', 'Host: localhost'), 400],
  ['a preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  [
    'Content-Length and Transfer-Encoding',
    `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n`,
    400,
  ],
  ['two Content-Lengths', `${post('Content-Length: 4', 'Content-Length: 5')}{"a"}`, 400],
  ['a list of Content-Lengths', `${post('Content-Length: 4, 5')}{"a"}`, 400],
  ['a negative Content-Length', post('Content-Length: -1'), 400],
  ['a Content-Length that is not a number', post('Content-Length: 0x1b'), 400],
  ['a Content-Length beyond 64 bits', post('Content-Length: 99999999999999999999'), 400],
  [
    'two Transfer-Encodings',
    `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
    400,
  ],
  ['an obscured Transfer-Encoding', `${post('Transfer-Encoding: xchunked')}0\r\n\r\n`, 400],
  [
    'a Transfer-Encoding with a space before the colon',
    `${post('Transfer-Encoding : chunked')}0\r\n\r\n`,
    400,
  ],
  ['an unknown Transfer-Encoding', `${post('Transfer-Encoding: x, chunked')}0\r\n\r\n`, 400],
  [
    'a chunked body in HTTP/1.0',
    `${request('POST /v1/toys HTTP/1.0', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    400,
  ],
  [
    'a request after an unknown Transfer-Encoding',
    `${keptAlive('GET /v1/toys HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: x, chunked')}0\r\n\r\n${get('Host: localhost')}`,
    400,
  ],
  ['two Authorization headers', get('Host: localhost', 'Authorization: Bearer other'), 400],
  ['POST /healthz', request('POST /healthz HTTP/1.1', 'Host: localhost'), 405],
  ['DELETE /readyz', request('DELETE /readyz HTTP/1.1', 'Host: localhost'), 405],
  ['a bad chunk size', `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, 400],
  ['a chunk longer than its size', `${post('Transfer-Encoding: chunked')}2\r\n{}{}\r\n0\r\n\r\n`, 400],
  ['a chunk size beyond 64 bits', `${post('Transfer-Encoding: chunked')}fffffffffffffffff\r\n{}`, 400],
  ['a body of more than 100 KB', post('Content-Length: 200000'), 413],
  ['a path with broken percent encoding', request('GET /v1/toys/%zz HTTP/1.1', 'Host: localhost'), 400],
  ['GET *', request('GET * HTTP/1.1', 'Host: localhost'), 400],
  ['an unknown path', request('GET /nowhere HTTP/1.1', 'Host: localhost'), 404],
  ['a body that never ends, at an unknown path', endless('POST /nowhere HTTP/1.1'), 404],
  ['lines that end with a line feed only', get('Host: localhost').replaceAll('\r', ''), 400],
];

const SERVED: [what: string, sent: string, status: number][] = [
  ['HTTP/1.0 without Host', request('GET /v1/toys HTTP/1.0'), 200],
  ['HTTP/1.0 with Host', request('GET /v1/toys HTTP/1.0', 'Host: localhost'), 200],
  [
    'absolute form for the host itself',
    request('GET http://localhost/v1/toys HTTP/1.1', 'Host: localhost'),
    200,
  ],
  ['a chunked body', `${post('Transfer-Encoding: chunked')}1b\r\n${TOY}\r\n0\r\n\r\n`, 201],
  ['OPTIONS *', request('OPTIONS * HTTP/1.1', 'Host: localhost'), 200],
  ['OPTIONS with a body that never ends', endless('OPTIONS /v1/toys HTTP/1.1'), 204],
  ['OPTIONS with a body that never ends, without a door', endless('OPTIONS /healthz HTTP/1.1'), 204],
  ['100 headers', get('Host: localhost', ...many(97)), 200],
  ['an unknown expectation', get('Host: localhost', 'Expect: tea'), 200],
  ['an upgrade', get('Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'), 200],
];

test.each([...REFUSED, ...SERVED])(
  'Reliability-5: %s is answered in the Error form, and the process stays up',
  async (_, sent, status) => {
    const answers = await exchange(sent);
    const alive = await fetch(`${gateway.url}/healthz`);
    expect(alive.status).toBe(200);
    expect(gateway.faults()).toEqual([]);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    if (status >= 400) for (const answer of answers) expectError(answer);
  },
);

test.each([
  ['garbage', 'nonsense\r\n\r\n'],
  ['a large header', get('Host: localhost', `X-Big: ${'a'.repeat(17_000)}`)],
  ['CONNECT', request('CONNECT localhost:1 HTTP/1.1', 'Host: localhost')],
])(
  'Limits-29: a refusal before the routes (%s) shows the quota of the address, and forbids sniffing',
  async (_, sent) => {
    const [answer] = await exchange(sent);
    expect(answer?.head).toMatch(/\r\nx-content-type-options: nosniff/i);
    for (const name of ['limit', 'remaining', 'reset']) {
      expect(answer?.head).toMatch(new RegExp(`\r\nx-ratelimit-${name}: \\d+`, 'i'));
    }
    expect(answer?.head).toMatch(/\r\nratelimit: "minute";r=\d+;t=\d+/i);
    expect(answer?.head).toMatch(/\r\nratelimit-policy: "minute";q=60;w=60/i);
  },
);

test('Reliability-17: 50 pipelined requests get 50 answers in their order', async () => {
  const ids = Array.from({ length: 50 }, (_, index) => String(index));
  const lines = ids.map((id) => `GET /v1/toys/${id} HTTP/1.1`);
  const requests = lines.map((line, index) => (index < 49 ? keptAlive : request)(line, 'Host: localhost'));
  const answers = await exchange(requests.join(''));
  expect(answers.map(({ body }) => /toy (\d+)/.exec(body)?.[1])).toEqual(ids);
});

test('Reliability-18: garbage after a request is refused after the answer to that request', async () => {
  const answers = await exchange(`${keptAlive('GET /v1/toys HTTP/1.1', 'Host: localhost')}garbage\r\n\r\n`);
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});

interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

/** Sends the bytes and reads until the gateway closes; every request here ends with a close. */
async function exchange(sent: string): Promise<RawAnswer[]> {
  const socket = connect(gateway.port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  socket.on('error', () => {});
  socket.write(sent.replaceAll('TOKEN', token), 'latin1');
  await eventually('closed', () => socket.closed, 3_000).catch((error) => {
    socket.destroy();
    throw new Error(`${error.message}, after ${received.slice(0, 400)}`);
  });
  return parseAnswers(received);
}

function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = received; rest !== ''; ) {
    const [head = '', ...bodies] = rest.split('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    answers.push({ status, head, body: bodies.join('\r\n\r\n').slice(0, length) });
    rest = bodies.join('\r\n\r\n').slice(length);
  }
  return answers;
}

function expectError({ status, head, body }: RawAnswer): void {
  expect(head).toMatch(/\r\ncontent-type: application\/json/i);
  expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}/i);
  expect(JSON.parse(body)).toMatchObject({ status, code: expect.any(String), message: expect.any(String) });
}
