// The console has words of its own for every end of a try and every verdict that the gateway gives.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TFunction } from 'i18next';
import { createInstance } from 'i18next';
import { expect, test } from 'vitest';
import { en } from '../../console/src/i18n/en.ts';
import { zh } from '../../console/src/i18n/zh.ts';
import { sayEnd, sayVerdict } from '../../console/src/pages/requests/say-attempt.ts';
import type { UpstreamFailureKind } from '../../src/canonical/failure.ts';

const POOL = resolve(import.meta.dirname, '../../src/pool');

test('a verdict of the pool is said in the language of the console', async () => {
  const code = ['selection.ts', 'eligibility.ts', 'lease.ts']
    .map((name) => readFileSync(resolve(POOL, name), 'utf8'))
    .join('\n');
  const sentences = [...code.matchAll(/(?:[:=]|return) '([a-z]\w*[ :][^']+)'/g)].map(
    ([, sentence = '']) => sentence,
  );
  expect(sentences.length).toBeGreaterThan(20);
  const known: ReadonlySet<string> = new Set(Object.values(en.attempts.verdicts));
  expect(sentences.filter((sentence) => !known.has(sentence))).toEqual([]);
  const t = await inChinese();
  expect(sayVerdict('already tried', t)).toBe(zh.attempts.verdicts.tried);
  expect(sayVerdict('its upstream x is not configured', t)).toBe(
    'its upstream x is not configured',
  );
});

test('an end of a try is said in words', async () => {
  const kinds = {
    ...{ 'rate-limited': 1, 'quota-exhausted': 1, unauthenticated: 1, 'credential-revoked': 1 },
    ...{ 'credential-unavailable': 1 },
    ...{ 'verification-required': 1, forbidden: 1, 'model-forbidden': 1, 'model-not-found': 1 },
    ...{ 'bad-signature': 1, 'missing-signature': 1, lacking: 1, rejected: 1, overloaded: 1 },
    ...{ 'connection-lost': 1, 'unusable-answer': 1, 'gateway-proxy': 1, path: 1 },
  } satisfies Record<UpstreamFailureKind, 1>;
  expect(Object.keys(en.attempts.ends)).toEqual(expect.arrayContaining(Object.keys(kinds)));
  const t = await inChinese();
  expect([sayEnd('path', t), sayEnd('toString', t)]).toEqual([zh.attempts.ends.path, 'toString']);
});

async function inChinese(): Promise<TFunction> {
  const instance = createInstance();
  await instance.init({ lng: 'zh', resources: { zh: { translation: zh } } });
  return instance.t;
}
