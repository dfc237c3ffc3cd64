import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream, type Script } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailureKind } from '../canonical/failure.ts';
import type { JsonObject } from '../lib/json.ts';
import type { EmbedCall, GenerateCall } from '../protocols/protocol.ts';
import type { RoutedModel } from '../routing/router.ts';
import { SignatureCache } from '../signatures/cache.ts';
import type { AnswerRoom } from '../stream/held-memory.ts';
import type { Upstream, UpstreamCall } from '../upstreams/upstream.ts';
import { contextOf } from './dispatch.test-support.ts';
import { createDispatcher } from './dispatch.ts';
import type { CallContext } from './dispatcher.ts';

interface BenchOptions {
  /** What one input meets. */
  readonly script: (call: UpstreamCall) => Script;
  readonly upstream?: Partial<Upstream>;
  readonly route?: Partial<RoutedModel>;
  readonly answerRoom?: AnswerRoom;
}

/** A dispatcher over the accounts a, b and c of one scripted upstream. */
function benchOf({ script, upstream: change, route, answerRoom }: BenchOptions) {
  const clock = createFakeClock();
  const fake = createFakeUpstream(script);
  const ends: string[] = [];
  const { pool } = createSeedPool({
    onOutcome: (account, _model, { kind }) => ends.push(`${account} ${kind}`),
    accounts: ['a', 'b', 'c'].map((id, index) => ({ id, priority: -index })),
    upstream: { ...fake, ...change },
    clock,
  });
  const dispatcher = createDispatcher({
    router: { route: (name) => ({ target: name, webSearch: false, ...route }) },
    pool,
    keeper: new SignatureCache({ clock }),
    clock,
    random: () => 0,
    createId: (prefix) => `${prefix}1`,
    answerRoom,
    thinkingMode: () => ({ kind: 'auto' }),
  });
  const context = contextOf();
  return {
    context,
    clock,
    wire: fake.wire,
    /** How each attempt ended for its account. */
    ends,
    /** Account and body of every call that was sent. */
    sent: () => fake.calls.map(({ access, body }) => `${access.accountId} ${Object.values(body)}`),
    async embed(call: Partial<EmbedCall> = {}, more: Partial<CallContext> = {}) {
      const { body } = await dispatcher.embed(embedCall(call), { ...context, ...more });
      return body;
    },
    dispatcher,
    generate: () => dispatcher.generate(generateCall, context),
    explain: () => dispatcher.explain(generateCall, context),
  };
}

const TEXTS = ['one', 'two', 'three'];

function embedCall(change: Partial<EmbedCall>): EmbedCall {
  return {
    protocol: 'chat',
    model: 'm',
    inputs: () => TEXTS.map((text) => ({ text })),
    texts: () => TEXTS,
    showsUsage: true,
    writeEmbeddings: ({ embeddings, promptTokens }) => ({
      vectors: embeddings.map(({ values }) => [...values]),
      promptTokens: promptTokens ?? null,
    }),
    ...change,
  };
}

const generateCall: GenerateCall = {
  protocol: 'chat',
  model: 'm',
  stream: false,
  bodySession: undefined,
  request: requestOf({ turns: [user('hello there')] }),
  createStreamWriter: () => ({ contentType: 'x', keepAlive: () => '', write: () => '' }),
  writeReply: () => ({ isAnswered: true }),
};

const fail = (kind: UpstreamFailureKind): Script => ({ fail: { kind } });
/** The length of the text, so that every input has a vector of its own. */
const lengthOf = ({ body }: UpstreamCall): Script => ({ frames: [`${String(body.text).length}`] });
const VECTORS = [[3], [3], [5]];

test('texts become vectors, and an estimate of ours is marked as one', async () => {
  const bench = benchOf({ script: lengthOf });
  expect(await bench.embed()).toEqual({ vectors: VECTORS, promptTokens: 3 });
  expect(bench.context.record).toMatchObject({
    isEstimate: true,
    routedModel: 'm',
    upstreamModel: 'm',
    accountLabel: 'a@example.org',
    attempts: [{ accountId: 'a', outcome: 'ok', status: 200 }],
  });
});

test('a count of the upstream is no estimate, and who shows none gets none', async () => {
  const counting = benchOf({
    script: lengthOf,
    upstream: {
      async *embed({ bodies }) {
        for (const _ of bodies) {
          const embeddings = [{ values: [1], native: {} }];
          yield { embeddings, promptTokens: 2, nativeUsages: [] };
        }
      },
    },
  });
  expect(await counting.embed()).toMatchObject({ promptTokens: 6 });
  expect(counting.context.record.isEstimate).toBeUndefined();
  const silent = benchOf({ script: lengthOf });
  expect(await silent.embed({ showsUsage: false })).toMatchObject({ promptTokens: null });
  expect(silent.context.record.isEstimate).toBeUndefined();
});

test('A3: vectors take memory until they are written, and no more than there is', async () => {
  let held = 0;
  const answerRoom: AnswerRoom = {
    take(holder, bytes) {
      if (bytes > 3_000_000) throw new GatewayError(FULL);
      held = holder.heldBytes = bytes;
    },
    release(holder) {
      held = holder.heldBytes = 0;
    },
  };
  const bench = benchOf({
    script: lengthOf,
    answerRoom,
    upstream: {
      async *embed({ bodies }) {
        const embeddings = [{ values: Array<number>(100_000).fill(0.1), native: {} }];
        for (const _ of bodies) yield { embeddings, nativeUsages: [] };
      },
    },
  });
  const asked = embedCall({ writeEmbeddings: () => ({ held }) });
  const twice = { ...asked, inputs: () => [{ text: 'one' }, { text: 'two' }] };
  expect(await bench.dispatcher.embed(twice, bench.context)).toEqual({
    kind: 'reply',
    body: { held: 2_400_000 },
    heldBytes: 2_400_000,
  });
  expect(held).toBe(0);
  await expect(bench.dispatcher.embed(asked, bench.context)).rejects.toMatchObject(FULL);
  expect(held).toBe(0);
});

const FULL = { kind: 'overloaded', source: 'gateway', message: 'full' } as const;

test.each([true, false])(
  'what nobody counted is estimated in the record, as its cost is (shown=%s)',
  async (showsUsage) => {
    const bench = benchOf({ script: lengthOf });
    await bench.embed({ showsUsage });
    const usage = { promptTokens: 3, answerTokens: 0, isEstimate: true };
    expect(bench.context.record.answers).toMatchObject([{ usage }]);
  },
);

test('the pictures and the sound among what was embedded are counted apart', async () => {
  const media = [{ image: 258, audio: 0 }, undefined, { image: 0, audio: 32 }];
  const bench = benchOf({
    script: lengthOf,
    upstream: {
      async *embed() {
        for (const part of media) {
          const embeddings = [{ values: [1], native: {} }];
          yield { embeddings, promptTokens: 300, media: part, nativeUsages: [] };
        }
      },
    },
  });
  await bench.embed();
  const usage = { promptTokens: 900, media: { image: 258, audio: 32 } };
  expect(bench.context.record.answers).toMatchObject([{ usage }]);
});

test('who relays and shows usage is told the estimate too', async () => {
  const bench = benchOf({ script: lengthOf });
  const relay = {
    wire: bench.wire,
    bodies: TEXTS.map((text) => ({ text })),
    writeEmbeddings: ({ promptTokens }: { promptTokens?: number | undefined }) => ({
      relayed: promptTokens ?? null,
    }),
  };
  expect(await bench.embed({ relay })).toEqual({ relayed: 3 });
});

test('who is silent for two minutes behind its first vectors is left for another account, which goes on', async () => {
  const asked: string[] = [];
  const bench = benchOf({
    script: lengthOf,
    upstream: {
      async *embed({ bodies, access: { accountId }, signal }) {
        asked.push(`${accountId} ${bodies.length}`);
        for (const [at] of bodies.entries()) {
          if (accountId === 'a' && at > 0) {
            await new Promise((_, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            });
          }
          yield { embeddings: [{ values: [1], native: {} }], promptTokens: 1, nativeUsages: [] };
        }
      },
    },
  });
  const pending = bench.embed();
  await bench.clock.advance(120_000 + 400);
  expect(await pending).toMatchObject({ vectors: [[1], [1], [1]] });
  expect(asked).toEqual(['a 3', 'b 2']);
});

test('after a 429 the next account goes on where the first one stopped', async () => {
  const bench = benchOf({
    script: (call) =>
      call.access.accountId === 'a' && call.body.text === 'two'
        ? fail('rate-limited')
        : lengthOf(call),
  });
  expect(await bench.embed()).toMatchObject({ vectors: VECTORS });
  expect(bench.sent()).toEqual(['a one', 'a two', 'b two', 'b three']);
  expect(bench.context.record.attempts.map(({ outcome }) => outcome)).toEqual([
    'rate-limited',
    'ok',
  ]);
  expect(bench.ends).toEqual(['a failure', 'b success']);
});

test('vectors of two models are never mixed', async () => {
  const bench = benchOf({
    script: (call) =>
      call.modelId === 'old' && call.body.text === 'two' ? fail('quota-exhausted') : lengthOf(call),
    upstream: {
      modelIds: () => ['old', 'new'],
      listModels: async ({ accountId }) => [{ id: accountId === 'a' ? 'old' : 'new' }],
    },
  });
  await bench.embed();
  expect(bench.sent()).toEqual(['a one', 'a two', 'b one', 'b two', 'b three']);
  expect(bench.context.record.upstreamModel).toBe('new');
});

test('when every account is limited the client learns that', async () => {
  const bench = benchOf({ script: () => fail('rate-limited') });
  await expect(bench.embed()).rejects.toMatchObject({ kind: 'rate-limited' });
  expect(bench.sent()).toEqual(['a one', 'b one', 'c one']);
});

test('what the upstream rejects is rejected for all accounts', async () => {
  const bench = benchOf({ script: () => fail('rejected') });
  await expect(bench.embed()).rejects.toMatchObject({ kind: 'invalid-request' });
  expect(bench.sent()).toEqual(['a one']);
});

test('an upstream of the client’s own wire gets the client’s own bodies', async () => {
  const bodies: JsonObject[] = [{ content: 'own' }];
  const writeEmbeddings = () => ({ isNative: true });
  const relayed = benchOf({ script: () => ({ frames: ['1'] }) });
  const relay = { wire: 'fake-wire', bodies, writeEmbeddings };
  expect(await relayed.embed({ relay })).toEqual({ isNative: true });
  expect(relayed.sent()).toEqual(['a own']);
  const translated = benchOf({ script: lengthOf });
  const other = { ...relay, wire: 'other-wire' };
  expect(await translated.embed({ relay: other })).toMatchObject({ vectors: VECTORS });
});

const listing = (...tasks: ('generate' | 'embed')[]): Partial<Upstream> => ({
  listModels: async () => [{ id: 'm', tasks }],
});

test('a model that only answers is refused for vectors, before anything is sent', async () => {
  const bench = benchOf({ script: lengthOf, upstream: listing('generate') });
  await expect(bench.embed()).rejects.toMatchObject({
    kind: 'invalid-request',
    field: 'model',
    reason: 'unsupported',
    message: expect.stringContaining('m makes no embeddings'),
  });
  expect(bench.sent()).toEqual([]);
});

test('a model that only embeds is refused for answers, before anything is sent', async () => {
  const bench = benchOf({ script: lengthOf, upstream: listing('embed') });
  const refusal = { field: 'model', message: expect.stringContaining('/v1/embeddings') };
  await expect(bench.generate()).rejects.toMatchObject(refusal);
  await expect(bench.explain()).rejects.toMatchObject(refusal);
  expect(bench.sent()).toEqual([]);
});

test('the catalogue knows what its models do where a list does not say', async () => {
  const route = { target: 'alpha-3-flash' };
  const upstream: Partial<Upstream> = { listModels: async () => [{ id: 'alpha-3-flash' }] };
  const bench = benchOf({ script: lengthOf, route, upstream });
  await expect(bench.embed()).rejects.toMatchObject({
    message: expect.stringContaining('m (alpha-3-flash) makes no embeddings'),
  });
});

test('a model that no account offers is named as it was asked for', async () => {
  const route = { target: 'alpha-embedding-001' };
  const upstream: Partial<Upstream> = { listModels: async () => [{ id: 'alpha-3-flash' }] };
  const bench = benchOf({ script: lengthOf, route, upstream });
  await expect(bench.embed()).rejects.toMatchObject({
    message: expect.stringContaining('No account offers the model "m" (alpha-embedding-001).'),
  });
});

test('"not found" of a model nobody knows to embed does not take it from the others', async () => {
  const bench = benchOf({
    script: ({ stream, body }) => {
      const isEmbedding = !stream && body.text !== undefined;
      return isEmbedding ? fail('model-not-found') : { frames: ['Hi', 'end'] };
    },
  });
  await expect(bench.embed()).rejects.toMatchObject({ kind: 'not-found', field: 'model' });
  expect(bench.sent()).toEqual(['a one']);
  expect(await bench.generate()).toMatchObject({ kind: 'reply' });
  expect(bench.sent()[1]).toMatch(/^a /);
});

test('words at the end of the name that mean nothing here are noted, and refused in strict mode', async () => {
  const bench = benchOf({ script: lengthOf, route: { webSearch: true } });
  await bench.embed();
  expect(bench.context.receipt.entries).toMatchObject([{ action: 'dropped', path: 'model' }]);
  await expect(bench.embed({}, { strict: true })).rejects.toMatchObject({
    kind: 'invalid-request',
  });
});

test('strict mode refuses a text that ends in half a character, before any attempt', async () => {
  const bench = benchOf({ script: lengthOf });
  const inputs = () => [{ text: '😀'.slice(0, 1) }];
  await expect(bench.embed({ inputs }, { strict: true })).rejects.toMatchObject({
    kind: 'invalid-request',
    message: expect.stringContaining('U+FFFD'),
  });
  expect(bench.sent()).toEqual([]);
});
