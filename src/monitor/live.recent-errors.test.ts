import { expect, test } from 'vitest';
import { recordOf } from '../../test/support/request-records.ts';
import { RecentErrors } from './live.ts';

test('the latest failed requests are kept, a hundred at most, until they are removed', () => {
  const errors = new RecentErrors();
  for (let at = 1; at <= 150; at += 1) {
    errors.add(recordOf({ id: `bad-${at}`, at, outcome: 'error' }).row);
  }
  errors.add(recordOf({ id: 'long', at: 120, outcome: 'error' }).row);
  const ids = errors.latest().map(({ id }) => id);
  expect(ids).toHaveLength(100);
  expect(ids.slice(0, 2)).toEqual(['bad-150', 'bad-149']);
  expect(ids.indexOf('long')).toBe(ids.indexOf('bad-120') - 1);
  errors.removeBefore(150);
  expect(errors.latest().map(({ id }) => id)).toEqual(['bad-150']);
});
