import { expect, test } from '@jest/globals';
import { readTraceParent } from '../../src/request/tracing/start-tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const LATER_VERSION = `01-${TRACE}-${SPAN}-01-`;

test('Attack-32: a traceparent with fields of a later version is read, and a long one is not kept in memory', () => {
  const named = { traceId: TRACE, spanId: SPAN, traceFlags: 1 };
  expect(readTraceParent(`${LATER_VERSION}more`)).toEqual(named);
  expect(readTraceParent(LATER_VERSION.padEnd(200, 'x'))).toEqual(named);
  expect(readTraceParent(LATER_VERSION.padEnd(201, 'x'))).toBeNull();
  expect(readTraceParent(LATER_VERSION.padEnd(16_000, 'x'))).toBeNull();
});
