import { expect, test } from 'vitest';
import { sellerOf } from './prices.ts';

test.each([
  [{ profile: 'gemini-api' }, { provider: 'google' }],
  [{ profile: 'vertex' }, { provider: 'google' }],
  [{ profile: 'openai' }, { provider: 'openai' }],
  [{ profile: 'anthropic', baseUrl: 'http://127.0.0.1:4000' }, { provider: 'anthropic' }],
  [{ profile: 'generic', baseUrl: 'https://upstream.example' }, {}],
  [{ profile: 'messages', baseUrl: 'https://upstream.example' }, {}],
  [
    { profile: 'openai-compatible', quirks: 'groq', baseUrl: 'https://groq.example/v1' },
    { provider: 'groq' },
  ],
  [{ profile: 'openai-compatible', baseUrl: 'https://api.deepseek.com' }, { provider: 'deepseek' }],
  [{ profile: 'openai-compatible', baseUrl: 'https://models.example/v1' }, {}],
  [{ profile: 'openai-compatible', baseUrl: 'http://localhost:8000/v1' }, { isLocal: true }],
  [{ profile: 'openai-compatible', baseUrl: 'http://[::1]:8000/v1' }, { isLocal: true }],
  [
    { profile: 'openai-compatible', quirks: 'vllm', baseUrl: 'http://10.0.0.2/v1' },
    { isLocal: true },
  ],
  [{ profile: 'sandbox' }, { isLocal: true }],
])('an upstream %o is sold by %o', (source, seller) => {
  const { provider, isLocal }: { provider?: string; isLocal?: boolean } = seller;
  expect(sellerOf({ id: 'up', ...source })).toEqual({ upstreamId: 'up', provider, isLocal });
});
