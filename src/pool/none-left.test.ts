import { expect, test } from 'vitest';
import { type Finding, noneLeft } from './none-left.ts';

const limited: Finding = {
  kind: 'waiting',
  cause: 'limited',
  verdict: 'reached its limit (rate)',
  remainingMs: 3_600_000,
};
const tried: Finding = { kind: 'tried', verdict: 'already tried' };
const disabled: Finding = { kind: 'unusable', verdict: 'disabled (forbidden)' };

test('V147 accounts that are all limited are worth waiting for', () => {
  const shorter = { ...limited, remainingMs: 1000 };
  expect(noneLeft([limited, shorter, disabled], [])).toMatchObject({
    reason: 'limited',
    retryAfterMs: 1000,
  });
});

test('one limited account does not make an hour of a fault that others just had', () => {
  const result = noneLeft([limited, tried, tried], []);
  expect(result).toMatchObject({ reason: 'all-tried' });
  expect(result).not.toHaveProperty('retryAfterMs');
});
