import { expect, test } from 'vitest';
import { requestOf } from '../../../test/support/canonical.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../../test/support/fake-upstream.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { TranslatedText, translateReply } from '../../dispatch/lanes.ts';
import { StreamObserver, TokenEstimator } from '../../dispatch/stream-observer.ts';
import type { StreamWriter } from '../../protocols/writers.ts';
import { SignatureCache } from '../../signatures/cache.ts';
import { HeldMemory } from '../../stream/held-memory.ts';
import { createAnswerRules } from './index.ts';

const SIX = ['1', '2', '3', '4', '5', 'END'];

/** A stream of words, read as far as asked; `left` counts what was not. */
function answerOf(
  words: readonly string[],
  change: Partial<CanonicalRequest>,
  isSearchNamed = false,
) {
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const receipt = createReceipt();
  const state = { left: words.length };
  async function* frames() {
    for (const word of words) {
      state.left -= 1;
      if (word === 'cut') throw new Error('The connection broke.');
      yield [{ text: '', value: { word } }];
    }
  }
  const watch = new StreamObserver({
    keeper: new SignatureCache({ clock: createFakeClock() }),
    scope: 'k',
    estimator: new TokenEstimator(),
    estimatePrompt: () => 0,
  });
  const createId = (prefix: string) => prefix;
  const decoder = upstream.createDecoder({ signatureFamily: 'f', createId });
  const rules = createAnswerRules({ request: requestOf(change), receipt, createId, isSearchNamed });
  const memory = new HeldMemory(undefined);
  return { input: { frames: frames(), decoder, watch, memory }, rules, state, watch, receipt };
}

function createTextWriter(): StreamWriter & { readonly events: CanonicalEvent[] } {
  const events: CanonicalEvent[] = [];
  return {
    contentType: 'text/plain',
    events,
    keepAlive: () => '',
    write: (event) => {
      events.push(event);
      if (event.kind === 'finish') return `<${event.choices[0]?.stopSequence}>`;
      return event.kind === 'block-delta' && 'text' in event.delta ? event.delta.text : '';
    },
  };
}

test('a stream that is cut closes the upstream and ends well', async () => {
  const words = ['a ', 'E', 'ND b', 'more', 'cut'];
  const { input, rules, state, watch } = answerOf(words, { stopSequences: SIX });
  let text = '';
  for await (const chunk of new TranslatedText(input, rules, createTextWriter())) text += chunk;
  expect(text).toBe('a <END>');
  expect(state.left).toBe(2);
  expect(watch).toMatchObject({ isFinished: true, error: undefined });
});

test.each([
  ['a tool asks for it', { tools: [{ kind: 'web-search' }] }, false],
  ['the name of the model asks for it', {}, true],
] as const)('a cut stream is read to its end where it may cite: %s', async (_, change, isNamed) => {
  const words = ['a ', 'E', 'ND b', 'more', 'end'];
  const asked = { ...change, stopSequences: SIX };
  const { input, rules, state, watch } = answerOf(words, asked, isNamed);
  let text = '';
  for await (const chunk of new TranslatedText(input, rules, createTextWriter())) text += chunk;
  expect(text).toBe('a <END>');
  expect(state.left).toBe(0);
  expect(watch).toMatchObject({ isFinished: true, error: undefined });
});

test('a cut stream that breaks off before its citations ends well', async () => {
  const asked = { tools: [{ kind: 'web-search' }], stopSequences: SIX } as const;
  const { input, rules } = answerOf(['a ', 'END', 'more', 'cut'], asked);
  let text = '';
  for await (const chunk of new TranslatedText(input, rules, createTextWriter())) text += chunk;
  expect(text).toBe('a <END>');
});

test('a whole answer is cut as its stream is', async () => {
  const { input, rules } = answerOf(['a ', 'E', 'ND b', 'more', 'end'], { stopSequences: SIX });
  expect((await translateReply(input, rules)).choices).toMatchObject([
    { end: { reason: 'stop-sequence', stopSequence: 'END' }, blocks: [{ text: 'a ' }] },
  ]);
});

test('a sequence the upstream was sent and let through ends the answer by name', async () => {
  const { input, rules } = answerOf(['a END', 'end'], { stopSequences: ['END'] });
  expect((await translateReply(input, rules)).choices).toMatchObject([
    { blocks: [{ text: 'a ' }], end: { reason: 'stop-sequence', stopSequence: 'END' } },
  ]);
});

test('what is noted of an answer names the fields of its client', async () => {
  const { input, rules, receipt } = answerOf(['a', 'end'], {
    sampling: { logprobs: { alternatives: 0 } },
    clientNames: { logprobs: 'generationConfig.responseLogprobs' },
  });
  await translateReply(input, rules);
  expect(receipt.entries).toMatchObject([{ path: 'generationConfig.responseLogprobs' }]);
});

test('log-probabilities that were asked for and did not come are in the receipt', async () => {
  const asked = answerOf(['a', 'end'], { sampling: { logprobs: { alternatives: 0 } } });
  await translateReply(asked.input, asked.rules);
  expect(asked.receipt.entries).toMatchObject([{ action: 'dropped', path: 'logprobs' }]);
  const unasked = answerOf(['a', 'end'], {});
  await translateReply(unasked.input, unasked.rules);
  expect(unasked.receipt.entries).toEqual([]);
});

test('answers that were asked for and did not come are in the receipt', async () => {
  const asked = answerOf(['a', 'end'], { choices: 3 });
  await translateReply(asked.input, asked.rules);
  expect(asked.receipt.entries).toMatchObject([{ action: 'dropped', path: 'n' }]);
  const given = answerOf(['a', 'end'], { choices: 1 });
  await translateReply(given.input, given.rules);
  expect(given.receipt.entries).toEqual([]);
});

test('the receipt names what an answer recites, whatever else the request asks for', () => {
  const finish = (recited: readonly string[]): CanonicalEvent => ({
    kind: 'finish',
    choices: [{ choice: 0, reason: 'stop', recited }],
  });
  const saidOf = (change: Partial<CanonicalRequest>, recited: readonly string[]) => {
    const { rules, receipt } = answerOf([], change);
    rules.transform([finish(recited)]);
    return receipt.entries.map(({ action, reason }) => `${action}: ${reason.text}`);
  };
  const page = (number: number) => `https://a.test/${number}`;
  const one = ['dropped: Words of the answer are recited from https://a.test/1.'];
  expect(saidOf({}, [page(1)])).toEqual(one);
  expect(saidOf({ stopSequences: SIX }, [page(1), page(1)])).toEqual(one);
  expect(saidOf({}, [])).toEqual([]);
  expect(saidOf({}, [1, 2, 3, 4, 5, 6, 7].map(page))[0]).toMatch(/5 and 2 more pages\.$/);
});

test('what is cited from outside the domains of a search stays out of the answer', () => {
  const { rules } = answerOf([], { tools: [{ kind: 'web-search', blockedDomains: ['a.test'] }] });
  const source = { url: 'https://a.test/', title: 'A' };
  const grounding = { kind: 'grounding', choice: 0, queries: [], sources: [source] } as const;
  const start: CanonicalEvent = { kind: 'start' };
  expect(rules.transform([start, { ...grounding, citations: [] }])).toEqual([
    start,
    { ...grounding, sources: [], citations: [] },
  ]);
});

test('the receipt names parts of the answer that have no place in the protocol of the client', () => {
  const { rules, receipt } = answerOf([], {});
  const choice = { choice: 0, reason: 'stop', unsupportedKinds: ['hologram'] } as const;
  rules.transform([{ kind: 'finish', choices: [choice, { ...choice, choice: 1 }] }]);
  expect(receipt.entries).toMatchObject([
    { action: 'dropped', path: 'answer', reason: { text: expect.stringContaining('hologram') } },
  ]);
});

test('B7: the receipt names the reason of an answer that did not end as finished', () => {
  const { rules, receipt } = answerOf([], {});
  const choice = { choice: 0, reason: 'stop', rawReason: 'OTHER', isOdd: true } as const;
  rules.transform([{ kind: 'finish', choices: [choice] }]);
  expect(receipt.entries).toMatchObject([
    {
      action: 'approximated',
      path: 'answer',
      reason: { text: expect.stringContaining('reason: OTHER.') },
    },
  ]);
});
