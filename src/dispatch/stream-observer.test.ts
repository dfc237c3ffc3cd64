import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { GatewayError } from '../canonical/error.ts';
import type { BlockOpening, CanonicalEvent, ChoiceEnd } from '../canonical/event.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import { SignatureCache } from '../signatures/cache.ts';
import { StreamObserver, TokenEstimator } from './stream-observer.ts';

const estimates = { estimator: new TokenEstimator(), estimatePrompt: () => 9 };
const signature = { value: 'S', family: 'alpha' };

function watch(events: readonly CanonicalEvent[], asked: (() => string) | undefined = () => 'why') {
  const keeper = new SignatureCache({ clock: createFakeClock() });
  const seen = new StreamObserver({ keeper, scope: 'k', asked, ...estimates });
  for (const event of events) seen.onEvent(event);
  return { seen, keeper };
}

const opened = (block: BlockOpening, index = 0): CanonicalEvent => {
  return { kind: 'block-start', index, choice: 0, block };
};

test('a thought is remembered by all of its text, with the family that signed it', () => {
  const { keeper } = watch([
    opened({ kind: 'thinking' }),
    { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'one ' } },
    opened({ kind: 'thinking' }, 1),
    { kind: 'block-delta', index: 1, delta: { kind: 'thinking', text: 'other' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'two' } },
    { kind: 'block-end', index: 0, signature },
    { kind: 'block-end', index: 1 },
  ]);
  const { family } = signature;
  const find = (text: string) => keeper.lookup('k', { kind: 'thought', text, family })?.signature;
  expect(find('one two')).toEqual(signature);
  expect(find('other')).toBeUndefined();
  expect(keeper.lookup('k', { kind: 'value', value: 'S' })).toMatchObject({ signature });
});

test('a signed call is remembered with what was issued in place of what its client is shown', () => {
  const { keeper } = watch([
    opened({ kind: 'tool-call', id: 'c', name: 'n', signature }),
    { kind: 'block-delta', index: 0, delta: { kind: 'arguments', json: '{"a"' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'arguments', json: ':1}' } },
    { kind: 'block-end', index: 0, issuedArguments: '{"a":"1"}' },
  ]);
  const input = { shown: '{"a":1}', issued: '{"a":"1"}' };
  const call = { kind: 'call', id: 'c', name: 'n' } as const;
  expect(keeper.lookup('k', call)).toMatchObject({ signature, input });
  // Nor is it known without its id: the signature does not vouch for what is shown.
  const shown = { kind: 'answered-call', name: 'n', json: () => input.shown } as const;
  expect(keeper.lookup('k', { ...shown, asked: () => 'why' })).toBeUndefined();
});

test('a signed text is remembered by its words and by what it answers, where the client carries none', () => {
  const events: CanonicalEvent[] = [
    opened({ kind: 'text' }),
    { kind: 'block-end', index: 0, signature, signedContent: 'words' },
  ];
  const answer = { kind: 'content', content: 'words', asked: () => 'why' } as const;
  expect(watch(events).keeper.lookup('k', answer)).toMatchObject({ signature });
  const carried = watch(events, undefined).keeper;
  expect(carried.lookup('k', { kind: 'value', value: 'S' })).toMatchObject({ signature });
});

test('pictures are counted, unfinished ones and other media are not', () => {
  const media = (mediaType: string, isDraft?: true): CanonicalEvent =>
    opened({ kind: 'media', mediaType, base64: 'AA==', isDraft });
  const { seen } = watch([
    media('image/png', true),
    media('image/png'),
    media('audio/wav'),
    media('image/jpeg'),
  ]);
  expect(seen.imageCount).toBe(2);
});

test.each<readonly [string, CanonicalEvent, boolean]>([
  ['a beginning', { kind: 'start' }, false],
  ['an open text without words', opened({ kind: 'text' }), false],
  ['an open thought without words', opened({ kind: 'thinking' }), false],
  ['a call', opened({ kind: 'tool-call', id: 'c', name: 'n' }), true],
  ['words', { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'x' } }, true],
  ['an ending', { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] }, true],
])('%s may or may not begin the answer for certain', (_what, event, isCommitted) => {
  expect(watch([event]).seen.isCommitted).toBe(isCommitted);
});

test('of an answer that failed its usage is estimated, of a whole one what it told', () => {
  const prompt = { ...NO_USAGE, promptTokens: 9 };
  const text = 'x'.repeat(20);
  const words = { kind: 'block-delta', index: 0, delta: { kind: 'text', text } } as const;
  const usageOf = (...events: readonly CanonicalEvent[]) => {
    const { seen } = watch(events);
    seen.take([words], []);
    return seen.usage;
  };
  const told = { kind: 'usage', usage: prompt } as const;
  const error = new GatewayError({ kind: 'timeout', source: 'upstream', message: 'late' });
  const estimate = { ...prompt, answerTokens: 5, isEstimate: true };
  expect(usageOf(told, { kind: 'error', error })).toEqual(estimate);
  expect(usageOf(told, { kind: 'finish', choices: [] })).toEqual(prompt);
});

test('an answer says why a choice of it was held back', () => {
  const withheldOf = (...choices: readonly ChoiceEnd[]) =>
    watch([{ kind: 'finish', choices }]).seen.withheld;
  const held = { choice: 1, reason: 'safety', rawReason: 'SPII' } as const;
  expect(withheldOf({ choice: 0, reason: 'stop' }, held)?.text).toContain('SPII');
  expect(withheldOf({ choice: 0, reason: 'stop', rawReason: 'STOP' })).toBeUndefined();
});
