import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { createAnthropicProfile } from './profiles.ts';
import { postRequest } from './requests.ts';

function versionSent(asked: string | undefined, body: JsonObject): unknown {
  const clientHeaders = asked === undefined ? {} : { 'anthropic-version': asked };
  const { headers } = postRequest(createAnthropicProfile(), '/messages', {
    modelId: 'm',
    body,
    access: { accountId: 'a', credential: 'k', credentialKind: 'api-key' },
    signal: new AbortController().signal,
    clientHeaders,
  });
  return headers?.['anthropic-version'];
}

test('a relayed body goes by the version its client speaks', () => {
  expect(versionSent(undefined, {})).toBe('2023-06-01');
  expect(versionSent('2026-10-21', { max_tokens: 1 })).toBe('2026-10-21');
});

test('sampling that a newer version dropped is sent by the version that has it', () => {
  expect(versionSent('2026-10-21', { temperature: 0.5 })).toBe('2023-06-01');
  expect(versionSent('2027-01-01', { top_k: 3 })).toBe('2023-06-01');
  expect(versionSent('2023-01-01', { temperature: 0.5 })).toBe('2023-01-01');
});
