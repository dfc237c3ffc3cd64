// What the parts of the stream path keep of an answer of megabytes that has not ended yet.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../src/canonical/event.ts';
import { StreamObserver, TokenEstimator } from '../../src/dispatch/stream-observer.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { ChatWriter } from '../../src/protocols/chat/write-events.ts';
import { EventWriter } from '../../src/protocols/generate/write-events.ts';
import { MessagesWriter } from '../../src/protocols/messages/write-events.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import { FrameReader } from '../../src/stream/sse.ts';
import { GenerateDecoder } from '../../src/upstreams/generate/decode.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const FRAMES = 100_000;
const WORDS =
  'a hundred characters of an answer, more or less, come with each of the frames of the stream. ';
const MOST_KEPT_BYTES = 1_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const context = { model: 'm', createdAt: 0, createId: (prefix: string) => `${prefix}1` };

function createTakers(): readonly ((event: CanonicalEvent) => unknown)[] {
  const watch = new StreamObserver({
    keeper: new SignatureCache({ clock: createFakeClock() }),
    scope: 'k',
    asked: () => 'why',
    estimator: new TokenEstimator(),
    estimatePrompt: () => 0,
  });
  const chat = new ChatWriter(context, {
    includeUsage: false,
    callForm: 'tool_calls',
    freeformTools: new Set<string>(),
    extensionKey: 'google',
  });
  const messages = new MessagesWriter(context, { omitsThinking: false });
  const generate = new EventWriter(context, 'events', { showThoughts: true });
  return [
    (event) => watch.onEvent(event),
    ...[chat, messages, generate].map((writer) => (event: CanonicalEvent) => writer.write(event)),
  ];
}

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function frameOf(index: number, thought: boolean): JsonObject {
  const part = { text: `${index} ${WORDS}`, ...(thought && { thought }) };
  return { candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] };
}

test.each([false, true])(
  'A11: the decoder, the watch and the writers keep next to nothing of 10 MB (thoughts: %s)',
  (thought) => {
    const decoder = new GenerateDecoder(
      { signatureFamily: 'alpha', body: {}, createId: (prefix) => prefix },
      () => 0,
    );
    const takers = createTakers();
    const push = (index: number): void => {
      for (const event of decoder.push(frameOf(index, thought)))
        for (const take of takers) take(event);
    };
    push(0);
    const before = usedBytes();
    for (let index = 1; index < FRAMES; index += 1) push(index);
    expect(usedBytes() - before).toBeLessThan(MOST_KEPT_BYTES);
    push(FRAMES);
  },
);

test.each(['', 'x', 'a line that is longer than a few characters'])(
  'an event that comes in a million lines of "%s" takes no more memory than its text',
  (line) => {
    const reader = new FrameReader({ maxFrameBytes: 64 * 1024 * 1024 });
    const piece = Buffer.from(`data: ${line}\n`.repeat(1000));
    const before = usedBytes();
    for (let pieces = 0; pieces < 1000; pieces += 1) reader.push(piece);
    expect(usedBytes() - before).toBeLessThan(1_000_000 * (line.length + 1) + MOST_KEPT_BYTES);
    expect(reader.push(piece)).toEqual([]);
  },
);
