import { expect, test } from 'vitest';
import { capabilitiesOf, traitsOf } from './models.ts';
import { createAnthropicProfile, createMessagesProfile } from './profiles.ts';

test.each([
  ['claude-3-haiku-20240307', 300, 'none', 4096],
  ['claude-3-5-sonnet-latest', 305, 'none', 8192],
  ['claude-3-7-sonnet-20250219', 307, 'manual', 64_000],
  ['claude-opus-4-20250514', 400, 'manual', 32_000],
  ['claude-opus-4-1', 401, 'manual', 32_000],
  ['claude-haiku-4-5@20251001', 405, 'manual', 64_000],
  ['anthropic/claude-sonnet-4.6', 406, 'adaptive', 128_000],
  ['claude-opus-5-20270101', 500, 'adaptive', 128_000],
  ['claude-newline-12-3', 1203, 'adaptive', 128_000],
  ['glm-4.6', undefined, 'manual', 128_000],
])('%s is of its version', (id, version, thinking, limit) => {
  expect(traitsOf(id)).toMatchObject({ version, thinking, outputTokenLimit: limit });
});

test('what the upstream lists wins over what the name says, and the profile over both', () => {
  const listed = { id: 'm', inputTokenLimit: 5000, outputTokenLimit: 900, supportsThinking: false };
  const own = createMessagesProfile({ baseUrl: 'https://a.test' });
  expect(capabilitiesOf(own, 'm', listed)).toMatchObject({
    ...{ inputTokenLimit: 5000, outputTokenLimit: 900, thinking: { kind: 'none' } },
  });
  const profile = { ...own, capabilityOverrides: { outputTokenLimit: 7 } };
  expect(capabilitiesOf(profile, 'm', listed).outputTokenLimit).toBe(7);
});

test('a thinking budget leaves room for an answer', () => {
  const { thinking } = capabilitiesOf(createAnthropicProfile(), 'claude-sonnet-4-5');
  expect(thinking).toMatchObject({ kind: 'budget', maxTokens: 64_000 - 16_384 });
});

test('signatures are of the service, or of the upstream that issued them', () => {
  const family = (profile: Parameters<typeof capabilitiesOf>[0]) =>
    capabilitiesOf(profile, 'm').signatureFamily;
  expect(family(createAnthropicProfile({ id: 'work' }))).toBe('anthropic');
  expect(family(createMessagesProfile({ id: 'own', baseUrl: 'https://a.test' }))).toBe('own');
});

test('an address is taken with or without its version', () => {
  const urls = ['https://a.test', 'https://a.test/', 'https://a.test/v1/'];
  for (const baseUrl of urls) {
    expect(createMessagesProfile({ baseUrl }).baseUrl).toBe('https://a.test');
  }
  expect(createAnthropicProfile().baseUrl).toBe('https://api.anthropic.com');
});
