// What of a client’s headers reaches a generate-content upstream: nothing. Each request brings another random set of them.

import { createServer, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../fuzz/random.ts';
import { startGateway, type TestApp } from '../support/app.ts';
import { countOf } from '../support/counts.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { PROTOCOL_CALLS } from '../support/protocol-calls.ts';
import { inParallel } from './measure.ts';

const SETS = countOf({ slow: 1_000, everyday: 150 });
const KEY = 'sk-client-canary-0123456789';
const UPSTREAM_KEY = 'the-key-of-the-upstream';
/** All that an upstream is sent, with what may stand there. */
const LISTED: Readonly<Record<string, RegExp>> = {
  host: /^127\.0\.0\.1:\d+$/,
  connection: /^(?:keep-alive|close)$/,
  'x-goog-api-key': /^the-key-of-the-upstream$/,
  accept: /^text\/event-stream, application\/json$/,
  'accept-encoding': /^identity$/,
  'user-agent': /^isthmus\/[\d.]+$/,
  'content-type': /^application\/json$/,
  'content-length': /^\d+$/,
};

const NAMES = [
  ...['authorization', 'cookie', 'x-api-key', 'x-goog-api-key', 'proxy-authorization', 'via'],
  ...['proxy-connection', 'te', 'trailer', 'x-session-id', 'x-forwarded-for', 'forwarded'],
  ...['x-forwarded-host', 'x-real-ip', 'cf-connecting-ip', 'origin', 'referer', 'user-agent'],
  ...['x-request-id', 'traceparent', 'tracestate', 'baggage', 'idempotency-key', 'range'],
  ...['x-goog-user-project', 'x-goog-api-client', 'anthropic-beta', 'anthropic-version', 'from'],
  ...['openai-organization', 'openai-project', 'x-stainless-lang', 'x-stainless-retry-count'],
  ...['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'max-forwards', 'warning'],
  ...[
    'x-preferred-account',
    'x-model-tier',
    'x-http-method-override',
    'x-original-url',
    'priority',
  ],
];

interface Seen {
  readonly headers: readonly string[];
  readonly url: string;
}

let upstream: Awaited<ReturnType<typeof serveOnLoopback>>;
let app: Omit<TestApp, 'sandbox'>;
const seen: Seen[] = [];

beforeAll(async () => {
  const server = createServer((asked, answer) => {
    const isModels = asked.method === 'GET';
    if (!isModels) seen.push({ headers: asked.rawHeaders, url: asked.url ?? '' });
    asked.resume();
    asked.on('end', () => {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(isModels ? MODELS : ANSWER));
    });
  });
  upstream = await serveOnLoopback(server);
  app = await startGateway({
    environment: {
      API_KEY: KEY,
      UPSTREAM_PROFILE: 'gemini-api',
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEYS: UPSTREAM_KEY,
    },
  });
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

const MODEL = 'gemini-3-flash';
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
const ANSWER = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};

test('of random header sets an upstream sees nothing: only the headers of the list, with our values', async () => {
  const statuses = new Map<number, number>();
  await inParallel(SETS, 4, async (index) => {
    const status = await ask(index, createRandom(index));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  expect(Object.fromEntries(statuses)).toEqual({ 200: SETS });
  expect(seen).toHaveLength(SETS);
  const strangers = seen.flatMap(({ headers }) => strangersIn(headers));
  expect(strangers).toEqual([]);
  const addresses = new Set(seen.map(({ url }) => url));
  expect([...addresses].filter((url) => /canary|key=/.test(url))).toEqual([]);
});

function strangersIn(headers: readonly string[]): readonly string[] {
  const pairs = Array.from({ length: headers.length / 2 }, (_, at) =>
    headers.slice(2 * at, 2 * at + 2),
  );
  const names = pairs.map(([name = '']) => name.toLowerCase());
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const others = pairs.filter(
    ([name = '', value = '']) => LISTED[name.toLowerCase()]?.test(value) !== true,
  );
  return [...twice, ...others.map((pair) => pair.join(': '))];
}

/** One call of each protocol in turn, with the key in one of its places and noise in many others. */
function ask(index: number, random: Random): Promise<number> {
  const call = PROTOCOL_CALLS[index % PROTOCOL_CALLS.length];
  if (call === undefined) throw new Error('There is no protocol.');
  const question = { model: MODEL, text: 'Hello', stream: false };
  const headers: Record<string, string> = {};
  const count = 3 + random.below(20);
  for (let at = 0; at < count; at += 1) headers[nameOf(random)] = textOf(random);
  // A hop's own header must not be able to name ours away.
  headers.connection = random.chance(0.3) ? 'close, x-goog-api-key, content-type' : 'keep-alive';
  const place = random.pick(['authorization', 'x-api-key', 'x-goog-api-key']);
  headers[place] = place === 'authorization' ? `Bearer ${KEY}` : KEY;
  headers['content-type'] = 'application/json';
  delete headers['x-model-tier'];
  const query = random.chance(0.3) ? `?key=${KEY}` : '';
  return post(call.path(MODEL, false) + query, headers, JSON.stringify(call.body(question)));
}

function nameOf(random: Random): string {
  if (random.chance(0.6)) return random.pick(NAMES);
  const letters = Array.from({ length: 1 + random.below(30) }, () =>
    random.pick([..."abcxyz-_019'!#$"]),
  );
  return `x${letters.join('')}`;
}

function textOf(random: Random): string {
  const letters = Array.from({ length: random.below(60) }, () =>
    random.pick([...'abc XYZ019,;="%\t~é']),
  );
  return `canary ${letters.join('')}`.trim();
}

function post(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    };
    const options = { port: app.port, host: '127.0.0.1', path, method: 'POST', headers };
    request(options, onAnswer).on('error', reject).end(body);
  });
}
