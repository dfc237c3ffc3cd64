import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { CanonicalEvent } from '../canonical/event.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { HeldMemory } from '../stream/held-memory.ts';
import type { Frame } from '../stream/sse.ts';
import { RelayedText } from './lanes.ts';
import { StreamObserver, TokenEstimator } from './stream-observer.ts';

const FIRST = { say: 'a' };
const TEXTS: readonly CanonicalEvent[] = [
  { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
  { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'a' } },
];

/** With spaces, as some servers write JSON; its value is made anew each time. */
function repetition(said: string): Frame {
  return { text: `{ "say": "${said}" }`, repeats: FIRST, said, value: { say: said } };
}

async function* frames(): AsyncGenerator<readonly Frame[]> {
  const [one, other] = [repetition('b'), repetition('c')];
  for (const frame of [one, other]) {
    Object.defineProperty(frame, 'value', { get: () => ({ say: frame.said }) });
  }
  yield [{ text: '{ "say": "a" }', value: FIRST }, one, other];
}

test('a frame that repeats one which was changed for the client goes out as it came, and those behind it unread', async () => {
  const clock = createFakeClock();
  const pushed: unknown[] = [];
  const decoder = {
    usage: undefined,
    push: (value: unknown) => (pushed.push(value) === 1 ? [...TEXTS] : []),
    repeat: () => [],
    end: (): CanonicalEvent[] => [{ kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] }],
  };
  const keeper = new SignatureCache({ clock });
  const estimator = new TokenEstimator();
  const watch = new StreamObserver({ keeper, scope: 'key', estimator, estimatePrompt: () => 0 });
  watch.decoder = decoder;
  let isVerbatim = false;
  const writer = {
    contentType: 'text/plain',
    write(frame: object, text: string) {
      isVerbatim = frame !== FIRST;
      return isVerbatim ? `${text}\n` : 'changed\n';
    },
    repeat: (text: string) => (isVerbatim ? `${text}\n` : undefined),
    end: () => 'end',
    error: () => 'error',
    keepAlive: () => '',
  };
  const memory = new HeldMemory(undefined);
  const input = { frames: frames(), decoder, watch, memory, edit: <T>(value: T): T => value };
  const chunks = new RelayedText(input, writer, () => {});
  await chunks.begin(() => {});
  let text = '';
  for await (const chunk of chunks) text += chunk;
  expect(text).toBe('changed\n{ "say": "b" }\n{ "say": "c" }\nend');
  expect(pushed).toEqual([FIRST, { say: 'b' }]);
});
