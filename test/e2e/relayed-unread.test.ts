// Requests that only an upstream of the client's own protocol understands: relayed whoever asks, and refused nowhere before.

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY, STRICT, startGateway, type TestApp } from '../support/app.ts';
import { dailyBudget } from '../support/budgets.ts';
import {
  type MessagesUpstreamServer,
  startMessagesUpstream,
} from '../support/messages-upstream.ts';

/** A file that the upstream keeps. */
const ASKED = {
  model: 'claude-sonnet-4-6',
  max_tokens: 100,
  messages: [
    {
      role: 'user' as const,
      content: [
        { type: 'document' as const, source: { type: 'file' as const, file_id: 'file_1' } },
        { type: 'text' as const, text: 'What is in it?' },
      ],
    },
  ],
};

let upstream: MessagesUpstreamServer;
let gateway: Omit<TestApp, 'sandbox'>;

beforeAll(async () => {
  upstream = await startMessagesUpstream();
  gateway = await startGateway({
    environment: {
      ...STRICT,
      UPSTREAM_PROFILE: 'anthropic',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: 'sk-ant-x',
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(apiKey: string): Promise<string> {
  const client = new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
  const { content } = await client.beta.messages.create(ASKED);
  return content[0]?.type === 'text' ? content[0].text : '';
}

test('a file of the upstream is asked about with the key of the gateway', async () => {
  expect(await ask(KEY)).not.toBe('');
});

test('it is with the key of a person, whose limits and budgets count it', async () => {
  const { keys, budgets } = gateway.app.access;
  const { listed, secret } = await keys.create({ name: 'Ada', tokensPerMinute: 100_000 });
  await budgets.create(dailyBudget(listed.key.id, 'tokens', 1_000_000));
  await budgets.create(dailyBudget(listed.key.id, 'images', 10));
  expect(await ask(secret)).not.toBe('');
  expect(keys.get(listed.key.id)?.usedToday.tokens).toBeGreaterThan(0);
});

test('a model that is not known is named, and not what only its upstream would understand', async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
  const answer = client.beta.messages.create({ ...ASKED, model: 'claude-sonet-4-6' });
  await expect(answer).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('claude-sonet-4-6'),
  });
});

test('what it would become is shown', async () => {
  const response = await fetch(`${gateway.url}/api/translate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ protocol: 'messages', body: ASKED }),
  });
  const shown = await response.json();
  expect(shown).toMatchObject({ upstream: { lane: 'relay' }, body: { messages: ASKED.messages } });
  expect(shown).not.toHaveProperty('canonical');
});
