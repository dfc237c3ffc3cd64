// What the console makes of answers that are not the gateway's.

import { afterEach, expect, test, vi } from 'vitest';
import { ApiError, callApi, isForeign, isUnreachable } from '../../console/src/api/client.ts';
import { asSentence } from '../../src/lib/localized-message.ts';

afterEach(() => vi.unstubAllGlobals());

async function failure(answer: Response): Promise<unknown> {
  vi.stubGlobal('fetch', async () => answer);
  return callApi('PATCH', '/api/config/pool', { body: {} }).catch((error: unknown) => error);
}

test('a proxy that says the gateway is away is believed, whatever page it says it with', async () => {
  for (const status of [502, 503, 504]) {
    const error = await failure(new Response('<html>Bad gateway</html>', { status }));
    expect(isUnreachable(error)).toBe(true);
  }
});

test('what else a proxy says is told by its status, not in its words', async () => {
  for (const answer of [
    new Response('', { status: 429 }),
    new Response('<html>Too large</html>', { status: 413 }),
    new Response('<html>Welcome</html>', { status: 200 }),
  ]) {
    const error = await failure(answer);
    expect([isForeign(error), isUnreachable(error)]).toEqual([true, false]);
    expect(error).toMatchObject({ status: answer.status });
  }
});

test('the gateway itself is quoted, also where it has no room', async () => {
  const message = asSentence('Too many requests at once.');
  const error = await failure(Response.json({ error: { code: 'busy', message } }, { status: 503 }));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 503, message: 'Too many requests at once.' });
});
