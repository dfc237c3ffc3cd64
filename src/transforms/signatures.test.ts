import { expect, test } from 'vitest';
import {
  assistant,
  call,
  capabilitiesOf,
  contextOf,
  requestOf,
  result,
  user,
} from '../../test/support/canonical.ts';
import { type Remembered, recallOf } from '../../test/support/signature-recall.ts';
import type { Part, Signature, ToolCallPart, Turn } from '../canonical/request.ts';
import { applyTransforms } from './index.ts';

const signed = (value: string): Signature => ({ value, family: 'alpha', on: 'tool-call' });

/** Signatures that were issued for the calls `a` and `b`, and one for the text `said`. */
const remembered: Remembered = {
  call: ({ id }) => (id === 'a' || id === 'b' ? { signature: signed(`of-${id}`) } : undefined),
  content: ({ content }) =>
    content === 'said' ? { signature: { ...signed('of-said'), on: 'text' } } : undefined,
  value: ({ value }) =>
    value.startsWith('of-') ? { signature: { value, family: 'alpha' } } : undefined,
};
const recall = recallOf(remembered);

/** What goes upstream of a conversation one of whose signatures was refused. */
const afterRefusal = (
  turns: readonly Turn[],
  context = contextOf({ recall, signatures: 'remembered' }),
) =>
  applyTransforms(requestOf({ turns }), context).turns.flatMap((turn) =>
    turn.parts.flatMap((part) =>
      'signature' in part ? [part.signature?.value] : part.kind === 'tool-call' ? [undefined] : [],
    ),
  );

const conversation = (...calls: readonly ToolCallPart[]): Turn[] => [
  user('go'),
  ...calls.flatMap((part) => [assistant(part), user(result(part.id))]),
];

test('P014 what was remembered takes the place of a signature that came back damaged', () => {
  const context = contextOf({ recall, signatures: 'remembered' });
  expect(afterRefusal(conversation(call('a', signed('dam'))), context)).toEqual(['of-a']);
  expect(context.receipt.entries).toMatchObject([{ action: 'dropped', path: 'messages' }]);
});

test('P014 the signatures beside the damaged one stay, those nobody remembers go', () => {
  const calls = [call('a', signed('of-a')), call('b', signed('dam')), call('c', signed('unknown'))];
  expect(afterRefusal(conversation(...calls))).toEqual(['of-a', 'of-b', undefined]);
});

test('P014 a genuine signature on the wrong call is replaced by its own', () => {
  expect(afterRefusal(conversation(call('a', signed('of-b'))))).toEqual(['of-a']);
});

test('P013 where all are as they were issued, none is sent a second time', () => {
  expect(afterRefusal(conversation(call('a', signed('of-a')), call('b')))).toEqual([
    undefined,
    undefined,
  ]);
});

test('P013 a second refusal leaves no signature, whatever is remembered', () => {
  const context = contextOf({ recall, signatures: 'stripped' });
  const calls = [call('a', signed('of-a')), call('b', signed('dam'))];
  expect(afterRefusal(conversation(...calls), context)).toEqual([undefined, undefined]);
});

test('calls as issued go with genuine signatures, those they carry as well as those remembered', () => {
  const recall = recallOf({
    ...remembered,
    call: (key) => ({ ...remembered.call?.(key), input: { issued: '{"as":"issued"}' } }),
  });
  const context = contextOf({ recall, signatures: 'reissued' });
  const calls = [call('a', signed('dam')), call('c', signed('of-c'))];
  const { turns } = applyTransforms(requestOf({ turns: conversation(...calls) }), context);
  expect(turns.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool-call'))).toEqual([
    expect.objectContaining({ input: { as: 'issued' }, signature: signed('of-a') }),
    expect.objectContaining({ input: { as: 'issued' }, signature: signed('of-c') }),
  ]);
});

test('P014 a damaged signature of a text gives way to the remembered one', () => {
  const said: Part = { kind: 'text', text: 'said', signature: { ...signed('dam'), on: 'text' } };
  expect(afterRefusal([user('go'), assistant(said), user('on')])).toEqual(['of-said']);
});

test('P012 a model that refuses unsigned calls does not think once their signatures are gone', () => {
  const context = contextOf({
    recall,
    signatures: 'remembered',
    capabilities: capabilitiesOf({ unsignedCalls: 'refused' }),
  });
  const request = requestOf({
    turns: conversation(call('a', signed('of-a'))),
    reasoning: { amount: { kind: 'budget', tokens: 2048 } },
  });
  expect(applyTransforms(request, context).reasoning.amount).toEqual({ kind: 'off' });
});

test.each([
  ['alpha', true],
  ['beta', false],
])(
  'what a model of the family %s did before a call goes back to one of alpha: %s',
  (family, goes) => {
    const trace = { family, parts: [{ toolCall: {} }] };
    const context = contextOf({ recall: recallOf({ call: () => ({ history: trace }) }) });
    const { turns } = applyTransforms(requestOf({ turns: conversation(call('a')) }), context);
    const [part] = turns[1]?.parts ?? [];
    expect(part).toMatchObject({ kind: 'tool-call', id: 'a' });
    expect(part).toEqual(
      goes ? expect.objectContaining({ trace }) : expect.not.objectContaining({ trace }),
    );
  },
);
