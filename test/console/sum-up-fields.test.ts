// What a line of the log tells of its fields.

import { expect, test } from 'vitest';
import { sumUpFields } from '../../console/src/pages/logs/sum-up-fields.ts';

test('a line of the log tells what happened before the id of its request', () => {
  const line = { requestId: 'req_1', method: 'GET', path: '/', status: 500, passedOver: ['a'] };
  expect(sumUpFields(line)).toBe(' method=GET path=/ status=500 passedOver=["a"] requestId=req_1');
});
