import { expect, test } from 'vitest';
import { planOf } from './attempts.ts';

test('calls that go back as they were issued go with their own signatures, without stand-ins', () => {
  const tried = ['replace-signatures', 'strip-signatures', 'add-stand-ins'] as const;
  expect(planOf(new Set(tried))).toMatchObject({ signatures: 'stripped', usesPlaceholders: true });
  expect(planOf(new Set([...tried, 'reissue-calls'] as const))).toMatchObject({
    signatures: 'reissued',
    usesPlaceholders: false,
  });
});
