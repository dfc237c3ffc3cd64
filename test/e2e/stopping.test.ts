// The process ends in an orderly way, however its parents pass the signal on.

import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway-process.ts';

test('a signal that comes twice at once, from a terminal and from `npm start`, lets streams finish', async () => {
  const gateway = await startGateway({});
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'alpha-3-flash',
      stream: true,
      messages: [{ role: 'user', content: 'UPSTREAM-SLOW 60 UPSTREAM-WORDS 60' }],
    }),
  });
  gateway.signal('SIGINT');
  gateway.signal('SIGINT');
  gateway.signal('SIGTERM');
  expect(await answer.text()).toMatch(/data: \[DONE\]\s*$/);
  expect(await gateway.ended).toBe(0);
  await gateway.stop();
});

test('a told gateway serves on for the drain delay, and is gone after it', async () => {
  const gateway = await startGateway({ ISTHMUS_DRAIN_DELAY: '1' });
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(gateway.url + path, { headers: { connection: 'close' } })).status;
  expect(await statusOf('/readyz')).toBe(200);
  gateway.signal('SIGTERM');
  await expect.poll(() => statusOf('/readyz'), { interval: 1 }).toBe(503);
  expect([await statusOf('/livez'), await statusOf('/v1/models')]).toEqual([200, 200]);
  expect(await gateway.ended).toBe(0);
  await expect(statusOf('/livez')).rejects.toThrow();
  await gateway.stop();
});

test('a hangup ends no gateway whose output is no terminal: a service that is told to reload, or nohup', async () => {
  const gateway = await startGateway({});
  gateway.signal('SIGHUP');
  const answer = await fetch(`${gateway.url}/livez`, { headers: { connection: 'close' } });
  expect(answer.status).toBe(200);
  expect(await gateway.stop()).toBe(0);
});

test("the signal that opens node's debugger opens none: who gets at its port runs code in the gateway", async () => {
  const gateway = await startGateway({});
  gateway.signal('SIGUSR1');
  const answer = await fetch(`${gateway.url}/livez`, { headers: { connection: 'close' } });
  expect(answer.status).toBe(200);
  expect(await gateway.stop()).toBe(0);
  expect(gateway.output()).not.toMatch(/debugger/i);
});
