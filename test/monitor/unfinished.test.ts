// A stream that does not come to its end is recorded with what its upstream told until then.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MonitoredGateway, startMonitored } from '../support/monitored-gateway.ts';
import { SURFACE_CALLS, type SurfaceCall } from '../support/surface-calls.ts';

let gateway: MonitoredGateway;
beforeEach(async () => {
  gateway = await startMonitored();
});
afterEach(() => gateway.close());

const SURFACES = SURFACE_CALLS.filter(
  ({ name }) => !['images', 'transcriptions', 'embeddings'].includes(name),
);
const LONG = 'a prompt of more words than are needed';

function ask(call: SurfaceCall, text: string): Promise<Response> {
  const { path, body } = call.request({ text, stream: true });
  return gateway.ask(path, body);
}

async function expectFigures(): Promise<void> {
  const sums = (await gateway.admin('/api/usage?by=key')).body;
  expect(sums).toMatchObject({ buckets: [{ inputTokens: expect.toSatisfy(isCount) }] });
  const { text } = await gateway.admin('/metrics');
  expect(text).not.toMatch(/isthmus_tokens_total\{[^}]*kind="(?:in|out)put"[^}]*\} 0\n/);
}

const isCount = (count: unknown): boolean => typeof count === 'number' && count > 0;

describe.each(SURFACES)('$name', (call) => {
  test('one that its upstream cuts off', async () => {
    const row = gateway.nextRow();
    await (await ask(call, `UPSTREAM-CUT ${LONG}`)).text();
    const { inputTokens, outputTokens } = await row;
    expect([inputTokens, outputTokens]).toSatisfy((counts: unknown[]) => counts.every(isCount));
    await expectFigures();
  });

  test('one that its client leaves', async () => {
    const row = gateway.nextRow();
    const answer = await ask(call, `UPSTREAM-SLOW 20 UPSTREAM-WORDS 300 ${LONG}`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('word-9'); ) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    const { status, inputTokens, outputTokens } = await row;
    expect(status).toBe(499);
    expect(inputTokens).toBeGreaterThan(0);
    expect(outputTokens).toBeGreaterThan(5);
    await expectFigures();
  });
});
