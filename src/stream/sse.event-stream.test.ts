import { expect, test } from 'vitest';
import { dataFrame, eventFrame } from './sse.ts';

test('a frame is its data on one line and an empty line', () => {
  expect(dataFrame('{"a":1}')).toBe('data: {"a":1}\n\n');
});

test('a named frame has its name before its data', () => {
  expect(eventFrame('ping', '{}')).toBe('event: ping\ndata: {}\n\n');
});
