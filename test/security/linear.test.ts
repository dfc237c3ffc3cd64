// Work grows with what is sent and no faster: each thing a request or an answer can have many of is doubled.

import { Agent, request, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { countOf, IS_SLOW } from '../support/counts.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';
import { threadMsOf } from './measure.ts';
import { ANSWERED, type Exchange, REQUESTS, SCHEMA_REQUESTS, type Shape } from './shapes.ts';

const MODEL = 'alpha-3-flash';
/** An answer of each wire, by the profile of its upstream. */
const REPLIES: Readonly<Record<string, JsonObject>> = {
  'gemini-api': {
    candidates: [
      { index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' },
    ],
  },
  'openai-compatible': {
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  },
  messages: { type: 'message', content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn' },
};

/** What costs no more than this is not measured any closer: noise, compiling and collecting weigh as much. */
const FLOOR_MS = countOf({ slow: 150, everyday: 40 });
const MOST_RATIO = 3;
/** Below this ratio one look at both is enough; near the limit the least of several tries counts, as noise only adds. */
const PLAIN_RATIO = 2.5;
const FEW_TRIES = 5;
const MOST_TRIES = 20;

let upstream: RawUpstream;
const apps = new Map<string, Omit<TestApp, 'sandbox'>>();
let frames: readonly string[] = [];
let isStream = false;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  upstream = await startRawUpstream([MODEL], answer);
  for (const profile of Object.keys(REPLIES)) {
    const app = await startGateway({
      environment: {
        UPSTREAM_PROFILE: profile,
        UPSTREAM_BASE_URL: upstream.url,
        UPSTREAM_API_KEYS: 'k',
        AUTH_MODE: 'off',
      },
    });
    apps.set(profile, app);
  }
});
afterAll(async () => {
  agent.destroy();
  for (const app of apps.values()) await app.close();
  upstream.close();
});

function answer(response: ServerResponse): void {
  response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
  if (isStream) response.end(frames.map((frame) => `data: ${frame}\n\n`).join(''));
  else response.end(frames.length === 1 ? frames[0] : `[${frames.join(',')}]`);
}

/** Resolves with the status once the whole answer was read. */
function send(port: number | undefined, path: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ port, host: '127.0.0.1', path, method: 'POST', agent },
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    });
    sent.on('response', (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

async function costOf(profile: string, exchange: Exchange): Promise<number> {
  const { path, body, frames: given = [REPLIES[profile] ?? {}] } = exchange;
  frames = given.map((frame) => JSON.stringify(frame));
  isStream = body.stream === true || path.includes('stream');
  const bytes = Buffer.from(JSON.stringify(body));
  let status = 0;
  const spentMs = await threadMsOf(async () => {
    status = await send(apps.get(profile)?.port, path, bytes);
  });
  expect([200, 400]).toContain(status);
  return spentMs;
}

/** All shapes in the slow suite. */
function some(shapes: Readonly<Record<string, Shape>>, isDaily: (name: string) => boolean) {
  return Object.entries(shapes).filter(([name]) => IS_SLOW || isDaily(name));
}

async function expectLinear(profile: string, shape: Shape): Promise<void> {
  const count = countOf({ slow: 8000, everyday: 500 });
  const [once, twice] = [shape(count), shape(2 * count)];
  let [simple, double] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    double = Math.min(double, await costOf(profile, twice));
    if (double < FLOOR_MS) return;
    simple = Math.min(simple, await costOf(profile, once));
    if (double < (tries < FEW_TRIES ? PLAIN_RATIO : MOST_RATIO) * simple) return;
  }
  expect(double).toBeLessThan(MOST_RATIO * simple);
}

test.each([
  ...some(SCHEMA_REQUESTS, (name) => /of a chat answer$/.test(name)),
  ...some(ANSWERED, (name) => /^chat stream of /.test(name)),
])('A2: %s', (_name, shape) => expectLinear('gemini-api', shape));

describe.each(Object.keys(REPLIES))('to an upstream of the profile %s', (profile) => {
  test.each(some(REQUESTS, () => true))('A2: %s', (_name, shape) => expectLinear(profile, shape));
});
