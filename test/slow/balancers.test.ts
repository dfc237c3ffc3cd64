// Two gateways behind a real nginx and a real HAProxy, as `deploy/` configures them: what reaches a client while
// gateways are killed and restarted.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Balancer, hasBalancer, startBalancer } from '../support/balancer.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';
import { openWebSocket } from '../support/web-socket-client.ts';

const KEY = 'sk-balanced-0123456789abcdef';
const WORKERS = 8;
const ROUNDS = 25;

const PLAIN = { authorization: `Bearer ${KEY}` };
const HEADERS = { ...PLAIN, 'content-type': 'application/json' };

for (const name of ['nginx', 'haproxy'] as const) {
  const isThere = hasBalancer(name);
  if (!isThere) console.warn(`SKIPPED: ${name} is not installed, so nothing is balanced by it.`);

  describe.runIf(isThere)(`behind ${name}`, () => {
    let ports: readonly number[];
    let gateways: RunningGateway[];
    let balancer: Balancer;
    beforeEach(async () => {
      ports = [await freePort(), await freePort()];
      gateways = await Promise.all(ports.map(startOn));
      balancer = await startBalancer(name, ports);
    });
    afterEach(async () => {
      await balancer.close();
      await Promise.all(gateways.map((gateway) => gateway.stop()));
    });

    const ask = (content: string, stream: boolean): Promise<Response> =>
      fetch(`${balancer.url}/v1/chat/completions`, {
        method: 'POST',
        headers: HEADERS,
        body: JSON.stringify({
          ...{ model: 'alpha-3-flash', stream },
          messages: [{ role: 'user', content }],
        }),
      });

    const readFigures = (figure: string): Promise<readonly number[]> =>
      Promise.all(gateways.map((gateway) => readFigure(gateway, figure)));

    /** Many clients at once, one request after the other; what is told of each that was not answered whole. */
    const askMany = async (onAnswer: (count: number) => void): Promise<readonly string[]> => {
      const lost: string[] = [];
      let count = 0;
      const client = async (): Promise<void> => {
        for (let round = 0; round < ROUNDS; round++) {
          const answer = await ask('UPSTREAM-SLOW 30 Hello', false);
          const text = await answer.text();
          if (answer.status !== 200) lost.push(`${answer.status} ${text}`);
          count += 1;
          onAnswer(count);
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, client));
      return lost;
    };

    test('both gateways serve, and the first event of a stream comes long before its last', async () => {
      const answer = await ask('UPSTREAM-SLOW 250 UPSTREAM-WORDS 20', true);
      let text = '';
      for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        if (text === '') expect(await readFigures('isthmus_requests_in_flight')).toContain(1);
        text += piece;
      }
      expect(text).toMatch(/data: \[DONE\]\s*$/);
      expect(await askMany(() => undefined)).toEqual([]);
      const served = await readFigures('isthmus_requests_total');
      for (const count of served) expect(count).toBeGreaterThan((WORKERS * ROUNDS) / 4);
    });

    test('a client is known by its own address, and console and WebSockets are reached', async () => {
      const origin = balancer.url;
      const session = await fetch(`${origin}/api/session`, {
        method: 'POST',
        headers: { ...HEADERS, origin, 'x-isthmus-console': '1', 'x-forwarded-for': '203.0.113.9' },
        body: JSON.stringify({ password: KEY }),
      });
      expect([session.status, await session.text()]).toEqual([200, expect.any(String)]);
      // A forwarding header makes a client foreign: without a key nothing is given away.
      expect((await fetch(`${origin}/v1/models`)).status).toBe(401);
      const large = await fetch(`${origin}/v1/chat/completions`, {
        ...{ method: 'POST', headers: HEADERS },
        body: JSON.stringify({
          model: 'alpha-3-flash',
          messages: [{ role: 'user', content: 'large '.repeat(500_000) }],
        }),
      });
      expect(large.status).toBe(200);
      const client = await openWebSocket(`${origin}/v1/responses`, PLAIN);
      expect(await client.ask({ model: 'alpha-3-flash', input: 'Hello' })).toMatchObject({
        status: 'completed',
      });
      client.close();
    });

    test('a gateway that is killed takes no request with it, and serves again once it is back', async () => {
      let isKilled = false;
      const lost = await askMany((count) => {
        if (isKilled || count < (WORKERS * ROUNDS) / 4) return;
        isKilled = true;
        gateways[0]?.signal('SIGKILL');
      });
      expect(isKilled).toBe(true);
      expect(lost).toEqual([]);
      await gateways[0]?.stop();
      const back = await startOn(ports[0] ?? 0);
      gateways[0] = back;
      // HAProxy looks once a second.
      await expect
        .poll(
          async () => {
            expect((await ask('Hello', false)).status).toBe(200);
            return readFigure(back, 'isthmus_requests_total');
          },
          { interval: 20 },
        )
        .toBeGreaterThan(0);
    });

    test('gateways that are restarted one after the other lose no request and cut no stream', async () => {
      const streams = [
        'UPSTREAM-SLOW 100 UPSTREAM-WORDS 60',
        'UPSTREAM-SLOW 100 UPSTREAM-WORDS 60',
      ];
      const held = await Promise.all(streams.map((content) => ask(content, true)));
      const lost: string[] = [];
      let isOver = false;
      const restart = async (): Promise<void> => {
        for (const [index, port] of ports.entries()) {
          await gateways[index]?.stop();
          gateways[index] = await startOn(port);
        }
        isOver = true;
      };
      const asking = async (): Promise<void> => {
        while (!isOver) lost.push(...(await askMany(() => undefined)));
      };
      const texts = Promise.all(held.map((answer) => answer.text()));
      await Promise.all([restart(), asking()]);
      expect(lost).toEqual([]);
      for (const text of await texts) expect(text).toMatch(/data: \[DONE\]\s*$/);
    });
  });
}

function startOn(port: number): Promise<RunningGateway> {
  const environment = {
    API_KEY: KEY,
    TRUSTED_PROXIES: '127.0.0.1',
    ISTHMUS_DRAIN_DELAY: '3',
    LOG_LEVEL: 'warn',
  };
  return startGateway(environment, ['--port', String(port)]);
}

/** The sum of what a gateway says of a figure, whatever its labels. */
async function readFigure({ url }: RunningGateway, figure: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const lines = metrics.split('\n').filter((line) => /^\w+/.exec(line)?.[0] === figure);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
