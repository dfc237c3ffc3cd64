import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { TextDigest } from '../../lib/long-text.ts';
import {
  blocksOf,
  decode,
  errorOf,
  frame,
  reasonOf,
  signature,
  signed,
  stop,
  thought,
} from './decode.test-support.ts';
import { GenerateDecoder } from './decode.ts';

test('V062: a signature on a thought ends its block', () => {
  expect(
    blocksOf(frame([thought('a')]), frame([thought('b', signed('S'))]), stop([{ text: 'c' }])),
  ).toEqual([
    { kind: 'thinking', text: 'ab', signature: signature('S', 'thinking') },
    { kind: 'text', text: 'c' },
  ]);
});

test('a signature alone ends the open block', () => {
  expect(
    blocksOf(frame([thought('a')]), stop([{ text: '', ...signed('S') }, { text: 'b' }])),
  ).toEqual([
    { kind: 'thinking', text: 'a', signature: signature('S', 'text') },
    { kind: 'text', text: 'b' },
  ]);
  expect(blocksOf(frame([thought('a')]), stop([thought('', signed('S')), { text: 'b' }]))).toEqual([
    { kind: 'thinking', text: 'a', signature: signature('S', 'thinking') },
    { kind: 'text', text: 'b' },
  ]);
  // P026
  expect(blocksOf(frame([{ text: 'a' }]), stop([{ text: '', ...signed('S') }]))).toEqual([
    { kind: 'text', text: 'a', signature: signature('S', 'text') },
  ]);
  expect(blocksOf(frame([{ text: 'a' }]), stop([signed('S')]))).toEqual([
    { kind: 'text', text: 'a', signature: signature('S', 'text') },
  ]);
});

test('a signed call ends the thinking before it with the same signature', () => {
  const call = { functionCall: { id: 'c', name: 'w' }, ...signed('S') };
  const called = { kind: 'tool-call', id: 'c', name: 'w', input: {} };
  expect(blocksOf(stop([thought('a'), call]))).toEqual([
    { kind: 'thinking', text: 'a', signature: signature('S', 'tool-call') },
    { ...called, signature: signature('S', 'tool-call') },
  ]);
  expect(blocksOf(stop([thought('a', signed('T')), call]))?.[0]).toMatchObject({
    signature: { value: 'T', on: 'thinking' },
  });
  expect(blocksOf(stop([{ text: 'a' }, call]))?.[0]).toEqual({ kind: 'text', text: 'a' });
});

test.each([
  ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
  ['[1]', '{"value":[1]}'],
  ['ls -l', '{"value":"ls -l"}'],
  [[1, { b: 2 }], '{"value":[1,{"b":2}]}'],
  ['', '{}'],
  [null, '{}'],
])('arguments in another form than an object are not lost: %j', (args, input) => {
  const [call] = blocksOf(stop([{ functionCall: { id: 'c', name: 'w', args } }])) ?? [];
  expect(JSON.stringify(call?.kind === 'tool-call' ? call.input : undefined)).toBe(input);
});

test('a text whose first piece is signed stays one, with its signature', () => {
  const pieces = [{ text: 'Hel', ...signed('S') }, { text: 'lo' }, { text: '!' }];
  const frames = pieces.map((piece) => frame([piece]));
  expect(blocksOf(...frames, stop([]))).toEqual([
    { kind: 'text', text: 'Hello!', signature: signature('S', 'text') },
  ]);
  const thoughts = [thought('a', signed('S')), thought('b')];
  expect(blocksOf(...thoughts.map((part) => frame([part])), stop([{ text: 'c' }]))).toEqual([
    { kind: 'thinking', text: 'ab', signature: signature('S', 'thinking') },
    { kind: 'text', text: 'c' },
  ]);
});

test('a signed part is not joined with one that is signed as well', () => {
  expect(
    blocksOf(stop([{ text: 'a', ...signed('S') }, { text: 'b' }, { text: 'c', ...signed('T') }])),
  ).toEqual([
    { kind: 'text', text: 'ab', signature: signature('S', 'text') },
    { kind: 'text', text: 'c', signature: signature('T', 'text') },
  ]);
});

test('a signature alone after a call changes nothing', () => {
  const call = { functionCall: { id: 'c', name: 'w' } };
  expect(blocksOf(stop([call, { text: '', ...signed('S') }]))).toEqual(blocksOf(stop([call])));
});

test('what a client hands back of a signed text or picture is told with its signature', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: 'AAA=' }, ...signed('T') };
  const decoder = new GenerateDecoder(
    { signatureFamily: 'alpha', createId: (prefix) => prefix },
    () => 0,
  );
  const frames = [frame([{ text: 'Sun' }]), frame([{ text: 'ny', ...signed('S') }, picture])];
  const events = [
    ...frames.flatMap((one) => decoder.push(one)),
    ...decoder.push(stop([{ text: '!' }])),
  ];
  const ends = [...events, ...decoder.end()].filter((event) => event.kind === 'block-end');
  const digests = ends.map(
    ({ signedContent }) => signedContent && TextDigest.of(signedContent).value,
  );
  expect(digests).toEqual([TextDigest.of('Sunny').value, TextDigest.of('AAA=').value, undefined]);
});

test('a second signature alone does not replace what vouches', () => {
  expect(blocksOf(frame([{ text: 'a' }]), frame([signed('S')]), stop([signed('T')]))).toEqual([
    { kind: 'text', text: 'a', signature: signature('S', 'text') },
  ]);
});

test('a thought of which the signature alone is shown is a block of its own', () => {
  const hidden = { kind: 'thinking', text: '', signature: signature('S', 'thinking') };
  const call = { functionCall: { id: 'c', name: 'f' } };
  expect(blocksOf(stop([thought('', signed('S')), { text: 'a' }, call]))).toMatchObject([
    hidden,
    { kind: 'text', text: 'a' },
    { kind: 'tool-call' },
  ]);
  expect(blocksOf(frame([{ text: 'a' }]), stop([thought('', signed('S'))]))).toEqual([
    { kind: 'text', text: 'a' },
    hidden,
  ]);
  expect(blocksOf(stop([thought('hm'), thought('', signed('S')), { text: 'a' }]))).toMatchObject([
    { kind: 'thinking', text: 'hm', signature: hidden.signature },
    { kind: 'text', text: 'a' },
  ]);
});

test('a file the answer names by its address is a link, alone and between texts', () => {
  const file = (fileUri: string, mimeType = '') => ({ fileData: { fileUri, mimeType } });
  expect(
    blocksOf(
      stop([{ text: 'a' }, file('https://f.example/a b(1).png', 'image/png'), { text: 'b' }]),
    ),
  ).toEqual([
    { kind: 'text', text: 'a' },
    { kind: 'text', text: '![image](https://f.example/a%20b%281%29.png)' },
    { kind: 'text', text: 'b' },
  ]);
  expect(blocksOf(stop([file('gs://bucket/v', 'video/mp4')]))).toEqual([
    { kind: 'text', text: '[video](gs://bucket/v)' },
  ]);
  expect(
    blocksOf(
      stop([
        { ...file('gs://f'), ...signed('S') },
        { text: 'b', ...signed('T') },
      ]),
    ),
  ).toEqual([
    { kind: 'text', text: '[file](gs://f)' },
    { kind: 'text', text: 'b', signature: signature('T', 'text') },
  ]);
});

const piece = (call: JsonObject, rest: JsonObject = {}) => frame([{ functionCall: call, ...rest }]);
const opening = piece({ id: 'c', name: 'w', willContinue: true }, signed('S'));
const arg = (stringValue: string, rest: JsonObject = {}) => ({
  partialArgs: [{ jsonPath: '$.city', stringValue }],
  ...rest,
});

test('a call whose arguments come piece by piece is one call', () => {
  const more = { willContinue: true };
  const called = {
    kind: 'tool-call',
    id: 'c',
    name: 'w',
    input: { city: 'Oslo' },
    signature: signature('S', 'tool-call'),
  };
  const pieces = [opening, piece(arg('Os', more)), piece(arg('lo', more)), piece({})];
  expect(blocksOf(...pieces, stop())).toEqual([called]);
  expect(reasonOf(...pieces, stop())).toBe('tool-calls');
  const next = piece({ id: 'd', name: 'v', args: { a: 1 } });
  const second = { kind: 'tool-call', id: 'd', name: 'v', input: { a: 1 }, signature: undefined };
  expect(blocksOf(opening, piece(arg('Oslo')), next, stop())).toEqual([called, second]);
  expect(blocksOf(opening, piece(arg('Oslo', more)), next, stop())).toEqual([called, second]);
});

test('a call begins with its first piece, so that its answer is not waited for', () => {
  expect(decode(opening).at(1)).toMatchObject({ kind: 'block-start', block: { name: 'w' } });
});

test('an answer that ends inside a call, or has one without a name, is no answer', () => {
  const failed = { failure: { kind: 'unusable-answer' } };
  const cut = frame([], { finishReason: 'MAX_TOKENS' });
  expect(errorOf(opening, piece(arg('Os', { willContinue: true })), cut)).toMatchObject(failed);
  expect(errorOf(opening, stop())).toMatchObject(failed);
  expect(errorOf(stop([{ text: 'I call' }, { functionCall: { args: { a: 1 } } }]))).toMatchObject(
    failed,
  );
  expect(reasonOf(stop([{ text: 'a' }, { functionCall: {} }]))).toBe('stop');
  const misplaced = { partialArgs: [{ jsonPath: 'city', stringValue: 'x' }] };
  expect(errorOf(opening, piece(misplaced), stop())).toMatchObject(failed);
});

test('a call beside a text in one part is not lost', () => {
  const both = { text: 'a', functionCall: { id: 'c', name: 'w' }, ...signed('S') };
  expect(blocksOf(stop([both]))).toEqual([
    { kind: 'text', text: 'a', signature: undefined },
    { kind: 'tool-call', id: 'c', name: 'w', input: {}, signature: signature('S', 'tool-call') },
  ]);
});
