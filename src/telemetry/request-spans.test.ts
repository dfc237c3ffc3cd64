import { expect, test } from 'vitest';
import { readTraceparent } from './request-spans.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a trace of a client is read with its flag', () => {
  const context = { traceId: TRACE, spanId: SPAN, isRemote: true };
  expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ ...context, traceFlags: 1 });
  expect(readTraceparent(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...context, traceFlags: 0 });
  expect(readTraceparent(`00-${TRACE}-${SPAN}-ff`)).toEqual({ ...context, traceFlags: 1 });
  expect(readTraceparent(`01-${TRACE}-${SPAN}-01-more`)).toEqual({ ...context, traceFlags: 1 });
});

test.each([
  undefined,
  '',
  'sk-canary-0123456789',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  `01-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
])('%s is no trace', (header) => {
  expect(readTraceparent(header)).toBeUndefined();
});
