// Many requests of several keys at once, each with a word of its own: nobody hears another's word.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../fuzz/random.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { countOf } from '../support/counts.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { PROTOCOL_CALLS } from '../support/protocol-calls.ts';
import { inParallel } from './measure.ts';

const REQUESTS = countOf({ slow: 100_000, everyday: 300 });
const WIDTH = 24;
const PERSONS = 4;
const SESSIONS = 3;
const ACCOUNTS = ['account-key-one', 'account-key-two', 'account-key-three'];
const MODEL = 'gemini-3-flash';

/** What the upstream was asked: the word, and whose credential came with it. */
const asked = new Map<string, string>();
/** Sessions of each key, in which nothing failed: `key session` → accounts. */
const homes = new Map<string, Set<string>>();
let upstream: Awaited<ReturnType<typeof serveOnLoopback>>;
let app: Omit<TestApp, 'sandbox'>;
const keys: string[] = [];

beforeAll(async () => {
  upstream = await serveOnLoopback(createServer((question, answer) => void play(question, answer)));
  app = await startGateway({
    environment: {
      AUTH_MODE: 'strict',
      UPSTREAM_PROFILE: 'gemini-api',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: ACCOUNTS.join(','),
    },
  });
  for (let person = 0; person < PERSONS; person += 1) {
    keys.push((await app.app.access.keys.create({ name: `person ${person}` })).secret);
  }
  await app.app.pool.ensureModels();
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** Says the word of the question, in pieces and late; fails now and then, where the word asks for it. */
async function play(question: IncomingMessage, answer: ServerResponse): Promise<void> {
  if (question.method === 'GET') return send(answer, 200, MODELS);
  const word = WORD.exec(await readText(question))?.[0] ?? 'no word at all';
  const account = String(question.headers['x-goog-api-key']);
  const isFirst = !asked.has(word);
  asked.set(word, account);
  if (word.includes('-fails') && isFirst) {
    return send(answer, 503, { error: { code: 503, message: word, status: 'UNAVAILABLE' } });
  }
  await pause();
  if (!question.url?.includes('stream')) return send(answer, 200, candidate(word, true));
  answer.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < word.length; at += 7) {
    const isLast = at + 7 >= word.length;
    answer.write(`data: ${JSON.stringify(candidate(word.slice(at, at + 7), isLast))}\r\n\r\n`);
    if (at % 21 === 0) await pause();
  }
  answer.end();
}

const WORD = /word-\d+-\w+(?:-fails)?-end/;
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function send(answer: ServerResponse, status: number, body: object): void {
  answer.writeHead(status, { 'content-type': 'application/json' });
  answer.end(JSON.stringify(body));
}

const MODELS = {
  models: [
    {
      name: `models/${MODEL}`,
      displayName: MODEL,
      inputTokenLimit: 1_000_000,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    },
  ],
};

function candidate(text: string, isLast: boolean): object {
  return {
    candidates: [
      {
        content: { role: 'model', parts: [{ text }] },
        ...(isLast ? { finishReason: 'STOP' } : {}),
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

test('of interleaved requests with retries and broken-off ones no answer holds a foreign byte', async () => {
  const counts = { answered: 0, left: 0 };
  await inParallel(REQUESTS, WIDTH, async (index) => {
    counts[await exchange(index, createRandom(index))] += 1;
  });
  expect(counts.answered + counts.left).toBe(REQUESTS);
  expect(counts.left).toBeGreaterThan(REQUESTS / 40);
  expect(asked.size).toBeGreaterThan(counts.answered - 1);
  // The same session id of different keys is not one session. While an account fails more than others its
  // sessions are served elsewhere, so that one may have been at several.
  expect(homes.size).toBe(PERSONS * SESSIONS);
  expect(new Set([...homes.values()].flatMap((accounts) => [...accounts])).size).toBeGreaterThan(1);
}, 1_200_000);

async function exchange(index: number, random: Random): Promise<'answered' | 'left'> {
  const person = random.below(PERSONS);
  const isSession = random.chance(0.4);
  const session = `session-${random.below(SESSIONS)}`;
  const isFailing = !isSession && random.chance(0.05);
  const word = `word-${index}-${random.below(1e9).toString(36)}${isFailing ? '-fails' : ''}-end`;
  const call = random.pick(PROTOCOL_CALLS);
  const stream = random.chance(0.5);
  const leave = new AbortController();
  const isLeaving = !isSession && random.chance(0.08);
  const answering = fetch(app.url + call.path(MODEL, stream), {
    method: 'POST',
    signal: leave.signal,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${keys[person]}`,
      ...(isSession ? { 'x-session-id': session } : {}),
    },
    body: JSON.stringify(call.body({ model: MODEL, text: word, stream })),
  });
  if (isLeaving) setImmediate(() => leave.abort());
  try {
    const answer = await answering;
    const text = await answer.text();
    expect([word, answer.status, wordsIn(text)]).toEqual([word, 200, word]);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return 'left';
    throw error;
  }
  if (isSession) {
    const home = homes.get(`${person} ${session}`) ?? new Set();
    homes.set(`${person} ${session}`, home.add(asked.get(word) ?? 'nobody'));
  }
  return 'answered';
}

/** All texts of an answer, whole or in pieces, one after the other. */
function wordsIn(answer: string): string {
  const pieces = answer.matchAll(/"(?:text|content)":"([^"]*)"/g);
  return [...pieces].map(([, piece]) => piece).join('');
}
