import { afterEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import type { CallRecord } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import { NO_USAGE } from '../canonical/usage.ts';

import { DEFAULT_EDGE_SETTINGS } from './settings.ts';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

const running: TestEdge[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

const broken = new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message: '' });
const TOLD = { ...NO_USAGE, promptTokens: 3_000, answerTokens: 9_000 };

/** What a key was charged for one call that ended with this record. */
async function chargeFor(ended: Partial<CallRecord>): Promise<number | undefined> {
  const clock = createFakeClock(Date.UTC(2026, 0, 15, 12));
  const settings = { ...DEFAULT_EDGE_SETTINGS, port: 0, authMode: 'strict', apiKeys: [] } as const;
  const access = await loadMemoryAccess({ settings: () => settings, clock });
  const edge = await startEdge({
    access,
    settings,
    async generate(_call, { record }) {
      Object.assign(record, ended);
      return { kind: 'reply', body: {} };
    },
  });
  running.push(edge);
  const { listed, secret } = await access.keys.create({ name: 'Ada' });
  await fetch(`${edge.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return access.keys.get(listed.key.id)?.usedToday.tokens;
}

test('an answer that broke off costs its key what its upstream told last', async () => {
  const answers = [{ usage: TOLD, imageCount: 0 }];
  expect(await chargeFor({ answers, committedAt: 1, error: broken })).toBe(12_000);
});

test('an answer of which nobody told anything costs what was reserved, not nothing', async () => {
  const reserved = await chargeFor({});
  expect(reserved).toBeGreaterThan(500);
  const answers = [{ usage: undefined, imageCount: 0 }];
  expect(await chargeFor({ answers, committedAt: 1, error: broken })).toBe(reserved);
  const drawn = [{ usage: undefined, imageCount: 1 }];
  expect(await chargeFor({ answers: drawn, committedAt: 1 })).toBe(reserved);
});

test('a broken answer of which the prompt alone was told costs at least what was reserved', async () => {
  const told = (promptTokens: number) => {
    const answers = [{ usage: { ...NO_USAGE, promptTokens }, imageCount: 0 }];
    return { answers, committedAt: 1, error: broken };
  };
  const reserved = await chargeFor({});
  expect(await chargeFor(told(3))).toBe(reserved);
  expect(await chargeFor(told(7_000))).toBe(7_000);
});

test('several answers cost what is told of any', async () => {
  const answers = [TOLD, undefined, TOLD].map((usage) => ({ usage, imageCount: 0 }));
  expect(await chargeFor({ answers, committedAt: 1 })).toBe(24_000);
});
