import { expect, test } from '@jest/globals';
import { parseProxyHeader } from '../../src/request/ingress/proxy-protocol.js';

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const V1 = 'PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n';

const bytes = (text: string) => Buffer.from(text, 'latin1');
/** Version 2: command, family, addresses and ports, further fields. */
function v2(command: number, family: number, addresses: number[], length = addresses.length): Buffer {
  return Buffer.concat([
    bytes(SIGNATURE),
    Buffer.from([command, family, length >> 8, length & 255, ...addresses]),
  ]);
}
const ofV4 = [192, 0, 2, 7, 192, 0, 2, 1, 0xdc, 4, 1, 0xbb];
const ofV6 = [...[0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 7], ...Array(16).fill(0), 1, 2, 3, 4];

test('Proxy-1: both versions of the header name the client, and what follows is not touched', () => {
  const v4 = { bytes: 28, address: '192.0.2.7' };
  expect(parseProxyHeader(bytes(`${V1}\x16rest`))).toEqual({ bytes: V1.length, address: '192.0.2.7' });
  expect(parseProxyHeader(bytes('PROXY TCP6 2001:db8::7 2001:db8::1 1 2\r\n'))).toMatchObject({
    address: '2001:db8::7',
  });
  expect(parseProxyHeader(bytes('PROXY UNKNOWN\r\n'))).toEqual({ bytes: 15, address: null });
  expect(parseProxyHeader(v2(0x21, 0x11, ofV4))).toEqual(v4);
  expect(parseProxyHeader(Buffer.concat([v2(0x21, 0x11, ofV4), bytes('\x16')]))).toEqual(v4);
  expect(parseProxyHeader(v2(0x21, 0x11, [...ofV4, 4, 0, 1, 9]))).toMatchObject({ bytes: 32 });
  expect(parseProxyHeader(v2(0x21, 0x21, ofV6))).toEqual({ bytes: 52, address: '2001:db8::7' });
  // A health check of the proxy, and a family without addresses.
  expect(parseProxyHeader(v2(0x20, 0x00, []))).toEqual({ bytes: 16, address: null });
  expect(parseProxyHeader(v2(0x21, 0x00, []))).toEqual({ bytes: 16, address: null });
  expect(parseProxyHeader(bytes('\x16\x03\x01'))).toEqual({ bytes: 0, address: null });
});

test('Proxy-2: each part of a header is incomplete, and no more than 536 bytes are waited for', () => {
  for (const whole of [bytes(V1), v2(0x21, 0x11, ofV4)]) {
    for (let length = 1; length < whole.length; length += 1) {
      expect(parseProxyHeader(whole.subarray(0, length))).toBe('incomplete');
    }
  }
  expect(parseProxyHeader(bytes('PROXY TCP4 '.padEnd(106, '1')))).toBe('incomplete');
  expect(parseProxyHeader(bytes('PROXY TCP4 '.padEnd(107, '1')))).toBe('malformed');
  expect(parseProxyHeader(v2(0x21, 0x11, ofV4, 520))).toBe('incomplete');
  expect(parseProxyHeader(v2(0x21, 0x11, ofV4, 521))).toBe('malformed');
});

test.each([
  ['a request', bytes('GET / HTTP/1.1\r\n')],
  ['an address of the other family', bytes('PROXY TCP6 192.0.2.7 192.0.2.1 1 2\r\n')],
  ['no address', bytes('PROXY TCP4 shop.example.com 192.0.2.1 1 2\r\n')],
  ['no port', bytes('PROXY TCP4 192.0.2.7 192.0.2.1\r\n')],
  ['version 3', v2(0x31, 0x11, ofV4)],
  ['an unknown command', v2(0x22, 0x11, ofV4)],
  ['addresses that are too short', v2(0x21, 0x11, ofV4.slice(0, 8))],
  ['addresses of the other family', v2(0x21, 0x21, ofV4)],
])('Proxy-3: %s is malformed', (_, header) => {
  expect(parseProxyHeader(header)).toBe('malformed');
});
