import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  assistant,
  call,
  capabilitiesOf,
  contextOf,
  requestOf,
  result,
  text,
  user,
} from '../../test/support/canonical.ts';
import { recallOf } from '../../test/support/signature-recall.ts';
import { GatewayError } from '../canonical/error.ts';
import type { ModelCapabilities } from '../canonical/model.ts';
import type { Part, Signature, Turn } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const turnsAfter = (turns: readonly Turn[], context = contextOf()) =>
  applyTransforms(requestOf({ turns }), context).turns;

test('neighbours of one role are merged and their border texts joined (V013, P060)', () => {
  expect(turnsAfter([user('a'), user('b'), assistant('c'), user('d')])).toEqual([
    user('a\n\nb'),
    assistant('c'),
    user('d'),
  ]);
});

test('a text that is marked for the cache stays apart where marks are read', () => {
  const marked = { kind: 'text', text: 'a', cacheHint: true } as const;
  const turns: Turn[] = [{ role: 'user', parts: [marked] }, user('b')];
  const reading = contextOf({ capabilities: capabilitiesOf({ takesCacheMarks: true }) });
  expect(turnsAfter(turns, reading)).toEqual([{ role: 'user', parts: [marked, text('b')] }]);
  expect(turnsAfter(turns)).toEqual([user('a\n\nb')]);
});

test('empty texts are dropped (V014, P062)', () => {
  expect(turnsAfter([user('', 'x')])).toEqual([user('x')]);
});

test('a missing result is made up before the text that follows (V020)', () => {
  const context = contextOf();
  const turns = turnsAfter([user('go'), assistant(call('t1')), user('next')], context);
  expect(turns[2]?.parts.map((part) => part.kind)).toEqual(['tool-result', 'text']);
  expect(turns[2]?.parts[0]).toMatchObject({ callId: 't1', name: 'tool_t1', isError: true });
  expect(context.receipt.entries[0]?.action).toBe('repaired');
});

test('a result that stands later is moved to its call instead of being made up (P046)', () => {
  const turns = turnsAfter([
    user('go'),
    assistant(call('t1')),
    user('wait'),
    assistant('ok'),
    user(result('t1', 'real')),
  ]);
  const results = turns.flatMap((turn) => turn.parts.filter((part) => part.kind === 'tool-result'));
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({ content: [text('real')], isError: false });
  expect(turns[2]?.parts[0]).toBe(results[0] ?? null);
});

test('parallel results in any order come back in call order, text after them', () => {
  const turns = turnsAfter([
    user('go'),
    assistant(call('a'), call('b'), call('c')),
    user('note', result('c'), result('a'), result('b')),
  ]);
  expect(turns[2]?.parts.map((part) => ('callId' in part ? part.callId : part.kind))).toEqual([
    'a',
    'b',
    'c',
    'text',
  ]);
});

test('a result for an unknown call is refused by id', () => {
  expect(() => turnsAfter([user('go'), user(result('nope'))])).toThrow(/"nope"/);
});

test('a second result for one call is dropped with a receipt', () => {
  const context = contextOf();
  turnsAfter([user('go'), assistant(call('a')), user(result('a'), result('a', 'again'))], context);
  expect(context.receipt.entries).toEqual([expect.objectContaining({ action: 'dropped' })]);
});

test('a conversation that says nothing at all is one user turn, and the receipt says why (P062)', () => {
  const context = contextOf();
  expect(turnsAfter([user(''), assistant('')], context)).toEqual([user('…')]);
  expect(context.receipt.entries.map(({ reason }) => reason)).toEqual([
    'A user turn "…" stands for the empty conversation.',
  ]);
});

test('a conversation that starts with the assistant gets a user turn first', () => {
  expect(turnsAfter([assistant('hi'), user('x')])[0]).toEqual(user('…'));
});

test('an instruction in mid-conversation stays at its place, marked (P061)', () => {
  const turns = turnsAfter([
    user('a'),
    { role: 'system', parts: [text('S')] },
    assistant('b'),
    user('c'),
  ]);
  expect(turns[0]?.parts).toEqual([text('a\n\n<system-instruction>\nS\n</system-instruction>')]);
});

test('the billing line is dropped, every other system text stays in order (V011)', () => {
  const system = [text('x-anthropic-billing-header: cc_version=1'), text('A'), text('B')];
  const request = applyTransforms(requestOf({ system, turns: [user('x')] }), contextOf());
  expect(request.system).toEqual([text('A'), text('B')]);
});

test('instructions that stand behind the billing line in one text stay (P064)', () => {
  const line = 'x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli; cch=0aaa9;';
  for (const joint of ['\n\n', '\n', ' ', '']) {
    const system = [text(`${line}${joint}You help.\nDEBUG=1 is set.`), text('B')];
    const request = applyTransforms(requestOf({ system, turns: [user('x')] }), contextOf());
    expect(request.system).toEqual([text('You help.\nDEBUG=1 is set.'), text('B')]);
  }
  const mentioned = [text(`Never repeat this: ${line}`)];
  const kept = applyTransforms(requestOf({ system: mentioned, turns: [user('x')] }), contextOf());
  expect(kept.system).toEqual(mentioned);
});

test('redacted thinking is dropped with a receipt (V026)', () => {
  const context = contextOf();
  const turns = turnsAfter(
    [user('a'), assistant({ kind: 'redacted-thinking', payload: 'zz' }, 'x'), user('b')],
    context,
  );
  expect(turns[1]).toEqual(assistant('x'));
  expect(context.receipt.entries[0]).toMatchObject({ action: 'dropped' });
});

const thought = (value: string, signature?: { value: string; family?: string }): Part => ({
  kind: 'thinking',
  text: value,
  signature,
});

test('a thought with a known bare signature is kept, with an unknown one dropped (V022)', () => {
  const turns = [user('a'), assistant(thought('hm', { value: 'S' }), 'x'), user('b')];
  const known = contextOf({
    recall: recallOf({
      value: ({ value }) => (value === 'S' ? { signature: { value, family: 'alpha' } } : undefined),
    }),
  });
  expect(turnsAfter(turns, known)[1]?.parts[0]).toMatchObject({ kind: 'thinking', text: 'hm' });
  expect(turnsAfter(turns)[1]).toEqual(assistant('x'));
});

test('a bare signature goes up in the spelling it was issued in', () => {
  const context = contextOf();
  const signature = { value: 'a+b/', family: 'alpha' };
  const recall = recallOf({
    value: ({ value }) => (value === 'a-b_' ? { signature } : undefined),
  });
  const turns = [user('a'), assistant(call('t', { value: 'a-b_' })), user(result('t'))];
  const spelt = { ...context, recall };
  expect(turnsAfter(turns, spelt)[1]?.parts[0]).toMatchObject({ signature: { value: 'a+b/' } });
  expect(context.receipt.entries).toEqual([]);
});

test('a signature of another family is dropped knowingly (P009)', () => {
  const context = contextOf();
  const turns = turnsAfter(
    [user('a'), assistant(call('t', { value: 'S', family: 'beta' })), user(result('t'))],
    context,
  );
  expect(turns[1]?.parts[0]).toMatchObject({ signature: undefined });
  expect(context.receipt.entries[0]?.reason.text).toContain('beta');
});

test('a call without signature gets the remembered one back', () => {
  const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;
  const recall = recallOf({
    call: ({ id, name }) => (id === 't' && name === 'tool_t' ? { signature } : undefined),
  });
  const turns = turnsAfter(
    [user('a'), assistant(call('t')), user(result('t'))],
    contextOf({ recall }),
  );
  expect(turns[1]?.parts[0]).toMatchObject({ signature });
});

test('a call goes back with the arguments its signature vouches for', () => {
  const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;
  const turns = turnsAfter(
    [user('a'), assistant({ ...call('t'), input: { n: 1 }, signature }), user(result('t'))],
    contextOf({
      recall: recallOf({
        call: ({ id }) =>
          id === 't' ? { input: { shown: '{"n":1}', issued: '{"n":"1"}' } } : undefined,
      }),
    }),
  );
  expect(turns[1]?.parts).toMatchObject([{ input: { n: '1' }, signature }]);
});

test('thinking switched off takes thoughts out of history (V027)', () => {
  const request = applyTransforms(
    requestOf({
      turns: [user('a'), assistant(thought('hm', { value: 'S', family: 'alpha' }), 'x'), user('b')],
      reasoning: { amount: { kind: 'off' } },
    }),
    contextOf(),
  );
  expect(request.turns[1]).toEqual(assistant('x'));
});

const budgetFor = (
  amount: Parameters<typeof requestOf>[0]['reasoning'],
  change: Parameters<typeof capabilitiesOf>[0] = {},
) => {
  const request = requestOf({ turns: [user('a')], ...(amount && { reasoning: amount }) });
  return applyTransforms(request, contextOf({ capabilities: capabilitiesOf(change) })).reasoning
    .amount;
};

test('efforts become the fixed budgets (V032)', () => {
  const efforts = ['low', 'medium', 'high', 'max'] as const;
  expect(efforts.map((effort) => budgetFor({ amount: { kind: 'effort', effort } }))).toEqual(
    [8192, 16_384, 24_576, 32_768].map((tokens) => ({ kind: 'budget', tokens })),
  );
});

test('adaptive thinking becomes the fixed budget (V031)', () => {
  expect(budgetFor({ amount: { kind: 'adaptive' } })).toEqual({ kind: 'budget', tokens: 24_576 });
});

test('a budget above the cap is lowered to it (V029, P015)', () => {
  const thinking = { kind: 'budget', minTokens: 0, maxTokens: 24_576, canDisable: true } as const;
  expect(budgetFor({ amount: { kind: 'budget', tokens: 40_000 } }, { thinking })).toEqual({
    kind: 'budget',
    tokens: 24_576,
  });
});

test('a model that does not think is told nothing about thinking (V033, P121)', () => {
  expect(budgetFor({ amount: { kind: 'adaptive' } }, { thinking: { kind: 'none' } })).toEqual({
    kind: 'unset',
  });
});

test('an unsigned call switches thinking off only where signatures are demanded (V042)', () => {
  const request = requestOf({
    turns: [user('a'), assistant(call('t')), user(result('t'))],
    reasoning: { amount: { kind: 'budget', tokens: 2048 } },
  });
  const amountWith = (unsignedCalls: 'refused' | 'sentinel') =>
    applyTransforms(request, contextOf({ capabilities: capabilitiesOf({ unsignedCalls }) }))
      .reasoning.amount.kind;
  expect(amountWith('refused')).toBe('off');
  expect(amountWith('sentinel')).toBe('budget');
});

test('the output limit is capped to the model (V035, P071)', () => {
  const context = contextOf({ capabilities: capabilitiesOf({ outputTokenLimit: 64_000 }) });
  const request = requestOf({ turns: [user('a')], maxOutputTokens: 200_000 });
  expect(applyTransforms(request, context).maxOutputTokens).toBe(64_000);
  expect(context.receipt.entries[0]?.action).toBe('capped');
});

test('an output limit at or below the thinking budget is raised above it (P016)', () => {
  const limits = (maxOutputTokens: number, tokens: number, outputTokenLimit: number) => {
    const request = requestOf({
      turns: [user('a')],
      maxOutputTokens,
      reasoning: { amount: { kind: 'budget', tokens } },
    });
    const done = applyTransforms(
      request,
      contextOf({ capabilities: capabilitiesOf({ outputTokenLimit }) }),
    );
    const { amount } = done.reasoning;
    return [done.maxOutputTokens, amount.kind === 'budget' ? amount.tokens : undefined];
  };
  expect(limits(4000, 8192, 65_536)).toEqual([12_192, 8192]);
  expect(limits(20_000, 8192, 65_536)).toEqual([20_000, 8192]);
  expect(limits(8000, 30_000, 8192)).toEqual([8192, 4096]);
});

test('search beside functions goes only where the model takes both (V038, P053)', () => {
  const tools = [{ kind: 'web-search' }, { kind: 'function', name: 'w' }] as const;
  const kinds = (searchWithFunctions: boolean) =>
    applyTransforms(
      requestOf({ turns: [user('a')], tools }),
      contextOf({ capabilities: capabilitiesOf({ searchWithFunctions }) }),
    ).tools.map((tool) => tool.kind);
  expect(kinds(false)).toEqual(['function']);
  expect(kinds(true)).toEqual(['web-search', 'function']);
});

test.each([
  ['a function', { kind: 'function', name: 'w' }],
  ['a search', { kind: 'web-search' }],
  ['reading of pages', { kind: 'url-context' }],
  ['running of code', { kind: 'code-execution' }],
] as const)('a model that takes no output format beside %s is told it in words', (_name, tool) => {
  const told = (outputFormats: ModelCapabilities['outputFormats']) => {
    const context = contextOf({ capabilities: capabilitiesOf({ outputFormats }) });
    const outputFormat = { kind: 'json' } as const;
    const request = requestOf({ turns: [user('a')], tools: [tool], outputFormat });
    const { outputFormat: sent, system, tools } = applyTransforms(request, context);
    expect(tools).toHaveLength(1);
    return [sent.kind, system.length, context.receipt.entries.map(({ path }) => path)];
  };
  expect(told('everywhere')).toEqual(['json', 0, []]);
  expect(told('without-tools')).toEqual(['text', 1, ['response_format']]);
});

test('a model that takes no output format at all is told it in words, tools or not', () => {
  const context = contextOf({ capabilities: capabilitiesOf({ outputFormats: 'nowhere' }) });
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  const outputFormat = { kind: 'json-schema', schema } as const;
  const sent = applyTransforms(requestOf({ turns: [user('a')], outputFormat }), context);
  expect(sent.outputFormat).toEqual({ kind: 'text' });
  expect(sent.system).toMatchObject([{ text: expect.stringContaining(JSON.stringify(schema)) }]);
  expect(context.receipt.entries).toMatchObject([
    { action: 'approximated', path: 'response_format' },
  ]);
});

const partArbitrary = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text: fc.constantFrom('', 'a', 'b') }),
  fc.constantFrom('a', 'b', 'c').map((id) => call(id)),
  fc.constantFrom('a', 'b', 'c').map((id) => result(id)),
);
const turnArbitrary = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  parts: fc.array(partArbitrary, { maxLength: 4 }),
});

test('whatever the history, turns alternate, start with user, and every call has its result', () => {
  fc.assert(
    fc.property(fc.array(turnArbitrary, { maxLength: 8 }), (raw) => {
      const seen = new Set<string>();
      const turns = raw.map((turn) => ({
        ...turn,
        parts: turn.parts.filter(isFitting(turn, seen)),
      }));
      let done: readonly Turn[];
      try {
        done = turnsAfter(turns);
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        return;
      }
      for (const [index, turn] of done.entries()) {
        expect(turn.role).toBe(index % 2 === 0 ? 'user' : 'assistant');
        expect(turn.parts.length).toBeGreaterThan(0);
        const calls = turn.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : []));
        const next = done[index + 1]?.parts ?? [];
        const results = next.flatMap((part) => (part.kind === 'tool-result' ? [part.callId] : []));
        if (turn.role === 'assistant') expect(results).toEqual(calls);
      }
    }),
  );
});

/** Calls stand in assistant turns and once each, results in user turns. */
function isFitting(turn: { role: string }, seen: Set<string>): (part: Part) => boolean {
  return (part) => {
    if (part.kind === 'tool-result') return turn.role === 'user';
    if (part.kind !== 'tool-call') return true;
    if (turn.role !== 'assistant' || seen.has(part.id)) return false;
    seen.add(part.id);
    return true;
  };
}

test('calls of one id become two, each with its own result', () => {
  const twin = { ...call('a'), input: { other: true } };
  const turns = turnsAfter([
    user('go'),
    assistant(call('a'), twin),
    user(result('a', 'first'), result('a', 'second')),
  ]);
  expect(turns[1]?.parts.map((part) => ('id' in part ? part.id : ''))).toEqual(['a', 'a-2']);
  expect(turns[2]?.parts).toMatchObject([
    { callId: 'a', content: [text('first')] },
    { callId: 'a-2', content: [text('second')] },
  ]);
});

test('P046 a late result that was all of the last turn leaves the user with the last word', () => {
  const context = contextOf();
  const turns = turnsAfter(
    [user('go'), assistant(call('a')), user('wait'), assistant('ok'), user(result('a'))],
    context,
  );
  expect(turns.at(-1)).toEqual(user('…'));
  expect(context.receipt.entries.map((entry) => entry.action)).toContain('approximated');
});

test('an empty last message of the user is not taken for a prefill', () => {
  expect(turnsAfter([user('a'), assistant('b'), user('')]).at(-1)).toEqual(user('…'));
  expect(turnsAfter([user('a'), assistant('b')]).at(-1)).not.toEqual(user('…'));
});

test('a model with levels gets no room for a budget that is not sent', () => {
  const context = contextOf({
    capabilities: capabilitiesOf({ thinking: { kind: 'level', levels: ['LOW', 'HIGH'] } }),
  });
  const amount = { kind: 'budget', tokens: 8000 } as const;
  const request = requestOf({ turns: [user('x')], reasoning: { amount }, maxOutputTokens: 1000 });
  expect(applyTransforms(request, context).maxOutputTokens).toBe(1000);
  expect(context.receipt.entries).toEqual([]);
});

test('P003 words thought before two calls do not give one the signature of the other', () => {
  const thoughtOfOther = { value: 'OTHER', family: 'alpha', on: 'tool-call' } as const;
  const turnsKnowing = (known: Signature | undefined) =>
    turnsAfter(
      [user('a'), assistant(thought('hm'), call('t')), user(result('t'))],
      contextOf({
        recall: recallOf({
          call: () => ({ signature: known }),
          thought: () => ({ signature: thoughtOfOther }),
          value: ({ value }) => ({ signature: { value, family: 'alpha' } }),
        }),
      }),
    );
  expect(turnsKnowing({ value: 'S', family: 'beta' })[1]?.parts).toEqual([call('t')]);
  expect(turnsKnowing({ value: 'S', family: 'alpha' })[1]?.parts).toMatchObject([
    { kind: 'tool-call', signature: { value: 'S' } },
  ]);
  expect(turnsKnowing(undefined)[1]?.parts[0]).toMatchObject({ signature: { value: 'OTHER' } });
});

test('a conversation the client ends with the assistant stays as it is: a prefill (V013)', () => {
  const context = contextOf();
  expect(turnsAfter([user('a'), assistant('b')], context)).toEqual([user('a'), assistant('b')]);
  expect(context.receipt.entries).toEqual([]);
});

test('an empty thought stays for the signature it carries, and goes without one', () => {
  const thought = (on: 'text' | 'thinking' | undefined): Part => ({
    kind: 'thinking',
    text: '',
    signature: on && { value: 'S', family: 'alpha', on },
  });
  const sent = (on: 'text' | 'thinking' | undefined) =>
    turnsAfter([user('a'), assistant(thought(on), 'b'), user('c')])[1]?.parts.map(
      ({ kind }) => kind,
    );
  expect(sent('text')).toEqual(['thinking', 'text']);
  expect(sent('thinking')).toEqual(['thinking', 'text']);
  expect(sent(undefined)).toEqual(['text']);
});

test('a turn of thoughts alone stays out: answers that failed leave it in histories', () => {
  const alone = assistant(thought('hm', { value: 'S', family: 'alpha' }));
  const context = contextOf();
  const asked = [user('go'), assistant(call('t')), user(result('t'))];
  const without = turnsAfter(asked);
  expect(turnsAfter([...asked, alone], context)).toEqual(without);
  const dropped = context.receipt.entries.filter(({ action }) => action === 'dropped');
  expect(dropped).toMatchObject([
    { path: 'messages', reason: { text: expect.stringContaining('answer behind it') } },
  ]);
  expect(turnsAfter([user('a'), alone, user('b')])).toEqual([user('a\n\nb')]);
  expect(turnsAfter([user('a'), alone, assistant('b')])[1]?.parts).toHaveLength(2);
});

test('a result that stands before its call is not taken for its answer', () => {
  const turns = [user('go'), user(result('t1', 'too early')), assistant(call('t1')), user('next')];
  expect(() => turnsAfter(turns)).toThrow(/no earlier assistant message holds/);
});

test('in a piece that is counted a result without its call is its content', () => {
  const context = contextOf({ mayBePiece: true });
  const content = [
    { kind: 'text', text: 'said' },
    { kind: 'json', value: { a: 1 } },
  ] as const;
  const alone = { kind: 'tool-result', callId: 't0', content, isError: false } as const;
  const empty = { ...alone, callId: 't2', content: [] } as const;
  const turns = turnsAfter(
    [user(alone), assistant(call('t1')), user(result('t1'), empty)],
    context,
  );
  expect(turns[0]).toEqual(user('said', '{"a":1}'));
  expect(turns[2]).toMatchObject(user(result('t1'), 'no result'));
  expect(context.receipt.entries).toMatchObject([{ action: 'approximated', path: 'messages' }]);
});

test('a result that came early is a second one where a call of its id has its own, though another has none', () => {
  const context = contextOf();
  const step = [assistant(call('t1')), user(result('t1'))];
  const turns = turnsAfter([user(result('t1', 'early')), ...step, assistant(call('t1'))], context);
  expect(turns.slice(1, 3)).toMatchObject(step);
  expect(context.receipt.entries).toContainEqual(
    expect.objectContaining({ action: 'dropped', path: 'messages' }),
  );
});

test('texts that meet at a border stay apart where one of them is signed', () => {
  const signature: Signature = { value: 'U0lH', family: 'alpha', on: 'text' };
  const turns: Turn[] = [
    user('go'),
    { role: 'assistant', parts: [{ ...text('a'), signature }] },
    assistant('b'),
    user('and?'),
  ];
  expect(turnsAfter(turns)[1]?.parts).toEqual([{ ...text('a'), signature }, text('b')]);
});
