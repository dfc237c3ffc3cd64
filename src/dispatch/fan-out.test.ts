import { expect, test } from 'vitest';
import { requestOf, user } from '../../test/support/canonical.ts';
import { GatewayError } from '../canonical/error.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import type { Reply } from '../canonical/fold.ts';
import type { Usage } from '../canonical/usage.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import type { ReplyContext } from '../protocols/writers.ts';
import { type AnswerRoom, HeldMemory } from '../stream/held-memory.ts';
import { contextOf } from './dispatch.test-support.ts';
import type { CallContext } from './dispatcher.ts';
import { generateSeveral } from './fan-out.ts';

const USAGE = {
  promptTokens: 1,
  cachedTokens: 0,
  toolPromptTokens: 0,
  answerTokens: 10,
  thoughtTokens: 0,
};
const REPLY: Reply = {
  upstreamId: undefined,
  modelVersion: undefined,
  usage: USAGE,
  choices: [{ blocks: [], end: { choice: 0, reason: 'stop' }, grounding: undefined }],
};
const REPLY_CONTEXT: ReplyContext = { model: 'm', createId: (prefix) => prefix, createdAt: 0 };

/** Answers with the number of choices and of answer tokens. */
function severalOf(count: number, takesPartial: boolean) {
  const call: GenerateCall = {
    protocol: 'chat',
    model: 'm',
    stream: false,
    bodySession: undefined,
    request: requestOf({}),
    createStreamWriter: () => {
      throw new Error('not streamed');
    },
    writeReply: ({ choices, usage }) => ({ choices: choices.length, tokens: usage.answerTokens }),
  };
  const requests = Array.from({ length: count }, () => requestOf({}));
  return { ...call, fanOut: { requests, takesPartial } };
}

/** Answers each request but those of the given positions, in the order they are asked. */
function answering(failures: ReadonlyMap<number, GatewayError> = new Map()) {
  const seen = { asked: 0, atOnce: 0, most: 0 };
  return {
    seen,
    replyContext: REPLY_CONTEXT,
    memory: new HeldMemory(undefined),
    sending: new HeldMemory(undefined),
    async generateOne(call: GenerateCall, context: CallContext) {
      const position = seen.asked;
      seen.asked += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await Promise.resolve();
      seen.atOnce -= 1;
      const failure = failures.get(position);
      if (failure !== undefined) throw failure;
      context.signal.throwIfAborted();
      return { kind: 'reply' as const, body: call.writeReply(REPLY, REPLY_CONTEXT) };
    },
  };
}

function errorOf(kind: 'timeout' | 'internal'): GatewayError {
  return new GatewayError({ kind, source: 'upstream', message: kind });
}

test('answers are counted together, and never more than ten requests are on their way', async () => {
  const options = answering();
  const answer = await generateSeveral(severalOf(25, false), contextOf(), options);
  expect(answer).toEqual({ kind: 'reply', body: { choices: 25, tokens: 250 } });
  expect(options.seen).toMatchObject({ asked: 25, most: 10 });
});

test.each([
  ['each of several prompts has its own', false, [0, 2, 4]],
  ['answers that may be left out stand one after the other', true, [0, 1, 2]],
])('where fewer answers come than were asked for, %s', async (_what, takesPartial, numbers) => {
  const several = severalOf(3, takesPartial);
  const call = {
    ...several,
    writeReply: ({ choices }: Reply) => ({ numbers: choices.map(({ end }) => end.choice) }),
    fanOut: {
      takesPartial,
      requests: several.fanOut.requests.map((one) => ({ ...one, choices: 2 })),
    },
  };
  const answer = await generateSeveral(call, contextOf(), answering());
  expect(answer).toEqual({ kind: 'reply', body: { numbers } });
});

test.each([
  [
    'all tell',
    [
      { image: 5, audio: 1 },
      { image: 7, audio: 2 },
    ],
    { image: 12, audio: 3 },
  ],
  ['one does not tell', [{ image: 5, audio: 1 }, undefined], undefined],
  ['the first does not tell', [undefined, { image: 5, audio: 1 }], undefined],
])('the media of prompts are added where %s', async (_who, told, sum) => {
  expect((await sumOf(told.map((media) => ({ ...USAGE, media }))))?.media).toEqual(sum);
});

test.each([
  [
    { tokens: 5, hourTokens: 2 },
    { tokens: 3, hourTokens: 3 },
    { tokens: 8, hourTokens: 5 },
  ],
  [{ tokens: 5, hourTokens: 2 }, { tokens: 3 }, { tokens: 8 }],
  [undefined, { tokens: 3, hourTokens: 1 }, { tokens: 3, hourTokens: 1 }],
  [undefined, undefined, undefined],
])('tokens written to caches add up: %j and %j', async (one, other, sum) => {
  const told = [one, other].map((cacheWrites) => ({ ...USAGE, cacheWrites }));
  expect((await sumOf(told))?.cacheWrites).toEqual(sum);
});

test('pictures are counted apart where each of the answers counts them', async () => {
  const drawn = { ...USAGE, answerMedia: { image: 1290, audio: 0 } };
  expect((await sumOf([drawn, drawn]))?.answerMedia).toEqual({ image: 2580, audio: 0 });
  expect((await sumOf([drawn, USAGE]))?.answerMedia).toBeUndefined();
});

/** The usage of an answer that is made of one request for each of these. */
async function sumOf(told: readonly Usage[]): Promise<Usage | undefined> {
  const sums: Usage[] = [];
  const writeReply = ({ usage }: Reply) => {
    sums.push(usage);
    return {};
  };
  const left = [...told];
  await generateSeveral({ ...severalOf(told.length, false), writeReply }, contextOf(), {
    ...answering(),
    async generateOne(call: GenerateCall) {
      const reply = { ...REPLY, usage: left.shift() ?? USAGE };
      return { kind: 'reply' as const, body: call.writeReply(reply, REPLY_CONTEXT) };
    },
  });
  return sums.at(-1);
}

test('answers stand in the order of their requests, whichever comes first, and all figures are added', async () => {
  const call = {
    ...severalOf(3, false),
    writeReply: ({ choices, usage }: Reply) => ({
      order: choices.map(({ end, blocks }) => [end.choice, JSON.stringify(blocks)]),
      usage: Object.values(usage),
    }),
  };
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  let asked = 0;
  const answer = generateSeveral(call, contextOf(), {
    replyContext: REPLY_CONTEXT,
    memory: new HeldMemory(undefined),
    sending: new HeldMemory(undefined),
    async generateOne({ writeReply }) {
      const position = asked++;
      await gates[position]?.promise;
      const [choice] = REPLY.choices;
      if (choice === undefined) throw new Error('no choice');
      const usage = {
        promptTokens: 1,
        cachedTokens: 2,
        toolPromptTokens: 3,
        answerTokens: 4,
        thoughtTokens: 5,
      };
      const blocks = [{ kind: 'text' as const, text: `${position}` }];
      const body = writeReply({ ...REPLY, usage, choices: [{ ...choice, blocks }] }, REPLY_CONTEXT);
      return { kind: 'reply', body };
    },
  });
  for (const at of [2, 0, 1]) {
    gates[at]?.resolve();
    await Promise.resolve();
  }
  expect(await answer).toEqual({
    kind: 'reply',
    body: {
      order: [0, 1, 2].map((at) => [at, `[{"kind":"text","text":"${at}"}]`]),
      usage: [3, 6, 9, 12, 15],
    },
  });
});

test('what succeeded is answered where parts are of use, with a note of what failed', async () => {
  const context = contextOf();
  const options = answering(new Map([[1, errorOf('timeout')]]));
  const answer = await generateSeveral(severalOf(3, true), context, options);
  expect(answer).toMatchObject({ body: { choices: 2 } });
  expect(context.receipt.entries).toEqual([
    { action: 'dropped', path: 'n', reason: '1 of 3 answers failed: timeout' },
  ]);
});

test('the error is the answer when all failed, or when parts are of no use', async () => {
  const all = new Map([0, 1].map((position) => [position, errorOf('timeout')]));
  await expect(
    generateSeveral(severalOf(2, true), contextOf(), answering(all)),
  ).rejects.toMatchObject({ kind: 'timeout' });
  const one = answering(new Map([[0, errorOf('timeout')]]));
  await expect(generateSeveral(severalOf(25, false), contextOf(), one)).rejects.toMatchObject({
    kind: 'timeout',
  });
  expect(one.seen.asked).toBeLessThanOrEqual(10);
});

test('an answer that counts as none is a failure like any other', async () => {
  const { fanOut, ...call } = severalOf(3, true);
  let checked = 0;
  const check = (): void => {
    checked += 1;
    if (checked === 2) throw errorOf('timeout');
  };
  const context = contextOf();
  const several = { ...call, fanOut: { ...fanOut, check } };
  const answer = await generateSeveral(several, context, answering());
  expect(answer).toMatchObject({ body: { choices: 2 } });
  expect(context.receipt.entries).toMatchObject([{ action: 'dropped', path: 'n' }]);
});

test('streams that stand apart are written one after the other, each with its own figures', async () => {
  const { fanOut, ...call } = severalOf(2, true);
  const createStreamWriter = () => ({
    contentType: 'text/event-stream',
    keepAlive: () => '',
    write: (event: CanonicalEvent) =>
      event.kind === 'usage' ? `${event.usage.answerTokens};` : event.kind === 'finish' ? '.' : '',
  });
  const several = { ...call, stream: true, createStreamWriter };
  const textOf = async (isStreamedApart: boolean): Promise<string> => {
    const apart = { ...several, fanOut: { ...fanOut, isStreamedApart } };
    const answer = await generateSeveral(apart, contextOf(), answering());
    return answer.kind === 'stream' ? (await Array.fromAsync(answer.chunks)).join('') : '';
  };
  expect(await textOf(true)).toBe('10;.10;.');
  expect(await textOf(false)).toBe('20;.');
});

test('the first answer is streamed while others are made, and what fails is left out', async () => {
  const { fanOut, ...call } = severalOf(4, true);
  const createStreamWriter = () => ({
    contentType: 'text/event-stream',
    keepAlive: () => '',
    write: (event: CanonicalEvent) =>
      event.kind === 'finish' ? 'done;' : event.kind === 'error' ? `${event.error.kind};` : '',
  });
  const several = { ...call, stream: true, createStreamWriter };
  const apart = { ...several, fanOut: { ...fanOut, isStreamedApart: true } };
  const streamOf = async (failures: readonly (readonly [number, GatewayError])[]) => {
    const context = contextOf();
    const answer = await generateSeveral(apart, context, answering(new Map(failures)));
    const text =
      answer.kind === 'stream' ? (await Array.fromAsync(answer.chunks)).join('') : 'no stream';
    return [text, context.receipt.entries.length];
  };
  expect(await streamOf([[0, errorOf('timeout')]])).toEqual(['done;done;done;', 1]);
  expect(await streamOf([[3, errorOf('timeout')]])).toEqual(['done;done;done;', 1]);
  expect(await streamOf([[3, errorOf('internal')]])).toEqual(['done;done;done;internal;', 1]);
  await expect(streamOf([[0, errorOf('internal')]])).rejects.toMatchObject({ kind: 'internal' });
  const all = [0, 1, 2, 3].map((position) => [position, errorOf('timeout')] as const);
  await expect(streamOf(all)).rejects.toMatchObject({ kind: 'timeout' });

  let finishLast: (() => void) | undefined;
  let asked = 0;
  const slow = answering();
  const answer = await generateSeveral(apart, contextOf(), {
    ...slow,
    async generateOne(one, context) {
      asked += 1;
      if (asked === 4) {
        await new Promise<void>((resolve) => {
          finishLast = resolve;
        });
      }
      return slow.generateOne(one, context);
    },
  });
  if (answer.kind !== 'stream') throw new Error('no stream');
  const seen: string[] = [];
  for await (const chunk of answer.chunks) {
    if (chunk !== '') seen.push(chunk);
    if (seen.length === 3) finishLast?.();
  }
  expect(seen).toHaveLength(4);
});

/** Room for 3 MB. */
function roomy(): AnswerRoom & { held: number } {
  const room = {
    held: 0,
    take(holder: { heldBytes: number }, bytes: number) {
      if (bytes > 3_000_000) throw errorOf('timeout');
      room.held += bytes - holder.heldBytes;
      holder.heldBytes = bytes;
    },
    release(holder: { heldBytes: number }) {
      room.held -= holder.heldBytes;
      holder.heldBytes = 0;
    },
  };
  return room;
}

test('of large requests as many are on their way as there is memory for beside the first', async () => {
  const room = roomy();
  const options = { ...answering(), sending: new HeldMemory(room) };
  const { fanOut, ...call } = severalOf(5, false);
  const large = requestOf({ turns: [user('x'.repeat(1_200_000))] });
  const requests = fanOut.requests.map(() => large);
  const answer = await generateSeveral(
    { ...call, fanOut: { ...fanOut, requests } },
    contextOf(),
    options,
  );
  expect(answer).toMatchObject({ body: { choices: 5 } });
  expect(options.seen).toMatchObject({ asked: 5, most: 3 });
  expect(room.held).toBe(0);
});

test('answers that wait for others take memory until all are written, and one that finds none fails', async () => {
  const room = roomy();
  const picture = 'A'.repeat(1_200_000);
  const large: Reply = {
    ...REPLY,
    choices: [
      {
        blocks: [{ kind: 'media', mediaType: 'image/png', base64: picture }],
        end: { choice: 0, reason: 'stop' },
        grounding: undefined,
      },
    ],
  };
  const { fanOut, ...call } = severalOf(3, true);
  const createStreamWriter = () => ({
    contentType: 'text/event-stream',
    keepAlive: () => '',
    write: ({ kind }: CanonicalEvent) => `${kind};`,
  });
  const ask = (stream: boolean) =>
    generateSeveral({ ...call, stream, createStreamWriter, fanOut }, contextOf(), {
      replyContext: REPLY_CONTEXT,
      memory: new HeldMemory(room),
      sending: new HeldMemory(undefined),
      generateOne: async (one) => ({ kind: 'reply', body: one.writeReply(large, REPLY_CONTEXT) }),
    });
  expect(await ask(false)).toMatchObject({ body: { choices: 2 }, heldBytes: expect.any(Number) });
  expect(room.held).toBe(0);
  const answer = await ask(true);
  if (answer.kind !== 'stream') throw new Error('no stream');
  expect(room.held).toBeGreaterThan(2_400_000);
  for await (const _chunk of answer.chunks) expect(room.held).toBeGreaterThan(2_400_000);
  expect(room.held).toBe(0);
});

test('a fault of the gateway itself is never passed over', async () => {
  const options = answering(new Map([[1, errorOf('internal')]]));
  await expect(generateSeveral(severalOf(3, true), contextOf(), options)).rejects.toMatchObject({
    kind: 'internal',
  });
});

test('a client that has left is asked nothing for', async () => {
  const options = answering();
  const left = generateSeveral(severalOf(3, true), contextOf(AbortSignal.abort()), options);
  await expect(left).rejects.toMatchObject({ kind: 'client-gone' });
  expect(options.seen.asked).toBe(0);
});
