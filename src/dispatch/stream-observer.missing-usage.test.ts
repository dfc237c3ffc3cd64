import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import type { RelayCall } from '../protocols/relayed-request.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { benchOf, callOf, collect } from './dispatch.test-support.ts';
import { StreamObserver, TokenEstimator } from './stream-observer.ts';

const PROMPT = 'x'.repeat(400);
const stopped = (stop: string): GenerateCall['request'] =>
  requestOf({ turns: [user(PROMPT)], stopSequences: [stop] });

/** What is told in front of the finish of an answer whose upstream told this. */
function estimateOf(usage: Usage, ...events: readonly CanonicalEvent[]): Usage | undefined {
  const watch = new StreamObserver({
    keeper: new SignatureCache({ clock: createFakeClock() }),
    scope: 'k',
    estimator: new TokenEstimator(),
    estimatePrompt: () => 7,
  });
  watch.decoder = { usage, push: () => [], end: () => [] };
  const [first] = watch.take(events, [{ kind: 'finish', choices: [] }]);
  return first?.kind === 'usage' ? first.usage : undefined;
}

const words = (kind: 'text' | 'thinking', text: string): CanonicalEvent => ({
  kind: 'block-delta',
  index: 0,
  delta: { kind, text },
});

test('what was told stays, what is missing is estimated from what came', () => {
  const said = [words('thinking', 'x'.repeat(8)), words('text', 'x'.repeat(20))];
  const output = { answerTokens: 5, thoughtTokens: 2 };
  const isEstimate = true;
  expect(estimateOf(NO_USAGE, ...said)).toEqual({
    ...{ ...NO_USAGE, ...output, promptTokens: 7 },
    isEstimate,
  });
  const prompt = { ...NO_USAGE, promptTokens: 9, cachedTokens: 4 };
  expect(estimateOf(prompt, ...said)).toEqual({ ...prompt, ...output, isEstimate });
  expect(estimateOf(prompt)).toBeUndefined();
  expect(estimateOf({ ...prompt, answerTokens: 1 }, ...said)).toBeUndefined();
});

test('an estimate is one figure for all who ask, whatever other answers teach in between', () => {
  const estimator = new TokenEstimator();
  const watch = new StreamObserver({
    keeper: new SignatureCache({ clock: createFakeClock() }),
    scope: 'k',
    estimator,
    estimatePrompt: () => 7,
  });
  watch.observe([words('text', 'x'.repeat(400))]);
  const ofBudget = watch.usage;
  estimator.observe(requestOf({ turns: [user(PROMPT)] }), 400);
  expect(watch.usage).toEqual(ofBudget);
});

test('a stream the gateway ends before the upstream told its usage is estimated, and says so', async () => {
  const bench = benchOf(() => ({ frames: ['x'.repeat(40), 'END', 'more'] }));
  const seen: CanonicalEvent[] = [];
  const createStreamWriter: GenerateCall['createStreamWriter'] = (context) => {
    const { write, ...writer } = callOf().createStreamWriter(context);
    const watch = (event: CanonicalEvent): string => {
      seen.push(event);
      return write(event);
    };
    return { ...writer, write: watch };
  };
  const request = stopped('END');
  await collect(await bench.generate({ stream: true, request, createStreamWriter }));
  const usage = { promptTokens: 100, answerTokens: 11, isEstimate: true };
  expect(seen.slice(-2)).toMatchObject([{ kind: 'usage', usage }, { kind: 'finish' }]);
  expect(bench.context.record.answers).toMatchObject([{ usage }]);
});

test('a stream that its client leaves is estimated in the record alone', async () => {
  const bench = benchOf(() => ({ frames: ['x'.repeat(40), 'more', 'end'] }));
  const request = stopped('END');
  const answer = await bench.generate({ stream: true, request });
  if (answer.kind !== 'stream') throw new Error('not a stream');
  const reader = answer.chunks[Symbol.asyncIterator]();
  await reader.next();
  const usage = { promptTokens: 100, answerTokens: 10, isEstimate: true };
  // The record is written when the client has left, which is before the answer is given up.
  expect(bench.context.record.answers).toMatchObject([{ usage }]);
  await reader.return?.();
  expect(bench.context.record.answers).toMatchObject([{ usage }]);
});

test('what the upstream told before the client left is no estimate', async () => {
  const bench = benchOf(() => ({ frames: ['Hello', 'more', 'end'] }));
  const { createDecoder } = bench.upstream;
  const usage = { ...NO_USAGE, promptTokens: 3, answerTokens: 1 };
  bench.upstream.createDecoder = (context) => {
    const decoder = createDecoder(context);
    return { usage, push: (frame) => decoder.push(frame), end: () => decoder.end() };
  };
  const answer = await bench.generate({ stream: true });
  if (answer.kind !== 'stream') throw new Error('not a stream');
  const reader = answer.chunks[Symbol.asyncIterator]();
  await reader.next();
  await reader.return?.();
  expect(bench.context.record.answers?.map((answer) => answer.usage)).toEqual([usage]);
});

const WHOLE = ['x'.repeat(40), 'end'];
const ESTIMATE = { promptTokens: 100, answerTokens: 10, isEstimate: true } as const;

test.each([true, false])(
  'a whole answer that never told its usage is estimated (stream=%s)',
  async (stream) => {
    const bench = benchOf(() => ({ frames: WHOLE }));
    const told: unknown[] = [];
    const { createStreamWriter } = callOf();
    const answer = await bench.generate({
      stream,
      request: stopped('END'),
      createStreamWriter: (context) => ({
        ...createStreamWriter(context),
        write: (event) => {
          if (event.kind === 'usage') told.push(event.usage);
          return event.kind;
        },
      }),
      writeReply: ({ usage }) => {
        told.push(usage);
        return {};
      },
    });
    if (stream) await collect(answer);
    expect(told.at(-1)).toMatchObject(ESTIMATE);
    expect(bench.context.record.answers).toMatchObject([{ usage: ESTIMATE }]);
  },
);

test.each([true, false])(
  'of a relayed answer the record alone is estimated, and the receipt does not hear of it (stream=%s)',
  async (stream) => {
    const bench = benchOf(() => ({ frames: WHOLE }));
    const sent: unknown[] = [];
    const relay: RelayCall = {
      wire: bench.upstream.wire,
      body: {},
      declaredNames: () => new Set<string>(),
      renameCalls: (frame) => frame,
      openingText: () => undefined,
      createStreamWriter: () => ({
        contentType: 'text/event-stream',
        write: (frame) => `${sent.push(frame)}`,
        end: () => '.',
        error: () => '!',
        keepAlive: () => ':',
      }),
      writeReply: (bodies) => {
        sent.push(...bodies);
        return {};
      },
    };
    const answer = await bench.generate({ stream, relay, request: stopped('END') });
    if (stream) await collect(answer);
    expect(bench.context.record.answers).toMatchObject([{ usage: ESTIMATE }]);
    expect(sent.at(-1)).toEqual({ word: 'end' });
  },
);

test.each([true, false])(
  'a whole answer that told its usage is never estimated (stream=%s)',
  async (stream) => {
    const bench = benchOf(() => ({ frames: ['Hello', 'used 4', 'end'] }));
    const answer = await bench.generate({ stream, request: stopped('END') });
    if (stream) await collect(answer);
    const usage = { ...NO_USAGE, promptTokens: 3, answerTokens: 4 };
    expect(bench.context.record.answers?.map((answer) => answer.usage)).toEqual([usage]);
  },
);
