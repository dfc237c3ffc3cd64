// What holds on every surface alike: streams keep their grammar, accounts take turns, errors keep their form.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/lib/json.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { CALL_TWICE } from '../support/prompts.ts';
import { checkStreamText } from '../support/stream-grammar/check-stream-text.ts';
import { askSurface, SURFACE_CALLS, type SurfaceCall } from '../support/surface-calls.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterEach(async () => {
  await app.sandbox.clearFaults();
  // Long enough for every cooldown.
  app.clock.skip(3_600_000);
});
afterAll(() => app.close());

const FIRST = { account: 'ada@sandbox.example' };
const ASK_FIRST = { 'x-preferred-account': 'key-1@env' };
const STREAMED = SURFACE_CALLS.filter(({ grammar }) => grammar !== undefined);

function check({ grammar }: SurfaceCall, text: string) {
  if (grammar === undefined) throw new Error('This surface does not stream.');
  return checkStreamText(grammar, text);
}

function limitOf({ endpoint }: SurfaceCall): JsonObject {
  const limit = { status: 429, reason: 'RATE_LIMIT_EXCEEDED' };
  return endpoint === undefined ? limit : { ...limit, endpoint };
}

describe.each(STREAMED)('streams of $name', (call) => {
  test('a whole answer keeps the grammar, with calls where there are any', async () => {
    for (const text of call.hasTools === true ? ['Hello', CALL_TWICE] : ['Hello']) {
      const answer = await askSurface(app.url, call, { text, stream: true });
      expect(answer.status).toBe(200);
      expect(check(call, await answer.text())).toBe('success');
    }
  });

  test('an answer that breaks off ends in the error of its grammar', async () => {
    await app.sandbox.addFault({ errorAfterEvents: 2, count: 9 });
    const answer = await askSurface(app.url, call, { text: 'Hello', stream: true });
    const text = await answer.text();
    if (answer.status === 200) expect(check(call, text)).toBe('error');
    else expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) } });
  });
});

describe.each(SURFACE_CALLS)('accounts on $name', (call) => {
  const streams = call.grammar === undefined ? [false] : [false, true];

  test.each(streams)('the limit of one account is invisible (stream=%s)', async (stream) => {
    await app.sandbox.addFault({ ...FIRST, ...limitOf(call), count: 1 });
    const answer = await askSurface(app.url, call, { text: 'Hi', stream, headers: ASK_FIRST });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-isthmus-attempts')).toBe('2');
    expect(answer.headers.get('x-isthmus-model')).toBe(call.model);
    expect(answer.headers.get('server-timing')).toContain('upstream');
    const text = await answer.text();
    if (stream) expect(check(call, text)).toBe('success');
  });

  test.each(streams)('with all accounts limited the wait is told (stream=%s)', async (stream) => {
    await app.sandbox.addFault({ ...limitOf(call), count: 99 });
    const answer = await askSurface(app.url, call, { text: 'Hi', stream });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const shape = z.object({ error: z.looseObject({ message: z.string() }) });
    expect(shape.safeParse(await answer.json()).success).toBe(true);
  });
});
