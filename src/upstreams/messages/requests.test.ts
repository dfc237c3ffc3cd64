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

const CITATIONS = [{ type: 'char_location', cited_text: 'x', document_index: 0 }];
const DOCUMENT = {
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data: 'x' },
};

test.each([
  ['a document of the assistant', 'assistant', DOCUMENT, '2023-06-01'],
  [
    'citations of the user',
    'user',
    { type: 'text', text: 'x', citations: CITATIONS },
    '2023-06-01',
  ],
  ['a document of the user', 'user', { ...DOCUMENT, citations: { enabled: true } }, '2026-10-21'],
  ['no citation', 'user', { type: 'text', text: 'x', citations: [] }, '2026-10-21'],
  ['citations of the assistant', 'assistant', { type: 'text', citations: CITATIONS }, '2026-10-21'],
  ['a text', 'user', 'x', '2026-10-21'],
])('of a newer version, %s goes by the version that takes it', (_, role, block, version) => {
  const content = typeof block === 'string' ? block : [{ type: 'text', text: 'a' }, block];
  const messages = [
    { role: 'user', content: 'Hello' },
    { role, content },
  ];
  expect(versionSent('2026-10-21', { messages })).toBe(version);
});
