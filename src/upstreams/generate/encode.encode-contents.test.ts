import { expect, test } from 'vitest';
import { assistant, user } from '../../../test/support/canonical.ts';
import type {
  CanonicalRequest,
  Part,
  ToolCallPart,
  ToolResultContent,
  Turn,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EncodeTarget } from '../upstream.ts';
import { encode } from './encode.ts';
import { capabilitiesOf } from './models.ts';
import { createVertexProfile } from './profiles.ts';
import { gemini, requestOf, sandbox, targetOf } from './requests.test-support.ts';

const encodeTurns = (turns: readonly Turn[], target: EncodeTarget = targetOf('alpha-3-flash')) =>
  encode(requestOf({ turns }), target, sandbox).contents;

const call = (id: string, fields: Partial<ToolCallPart> = {}): ToolCallPart => ({
  kind: 'tool-call',
  id,
  name: 'get',
  input: { a: 1 },
  ...fields,
});
const result = (callId: string, text = 'ok'): Part => ({
  kind: 'tool-result',
  callId,
  name: 'get',
  content: [{ kind: 'text', text }],
  isError: false,
});
const png = (base64 = 'AAA='): Part => ({
  kind: 'media',
  modality: 'image',
  mediaType: 'image/png',
  source: { kind: 'base64', base64 },
});

/** The model turn between a question and the next one. */
const modelParts = (parts: readonly Part[], target?: EncodeTarget) => {
  const contents = encodeTurns([user('q'), assistant(...parts), user('next')], target);
  return Array.isArray(contents) ? contents[1] : undefined;
};

test('V013 roles are user and model', () => {
  expect(encodeTurns([user('a\n\nb'), assistant('c')])).toEqual([
    { role: 'user', parts: [{ text: 'a\n\nb' }] },
    { role: 'model', parts: [{ text: 'c' }] },
  ]);
});

test('V014 P062 empty texts and the turns they leave empty are not sent', () => {
  expect(encodeTurns([user('', 'x'), assistant(''), user('y')])).toEqual([
    { role: 'user', parts: [{ text: 'x' }] },
    { role: 'user', parts: [{ text: 'y' }] },
  ]);
  expect(() => encodeTurns([user('')])).toThrow(/nothing to answer/);
});

test('V015 V081 bytes go inline', () => {
  expect(encodeTurns([user(png())])).toEqual([
    { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAA=' } }] },
  ]);
});

test('V082 addresses the upstream does not read are refused by name', () => {
  const image = (url: string): Part => ({
    kind: 'media',
    modality: 'image',
    source: { kind: 'url', url },
  });
  for (const url of ['file:///etc/passwd', 'http://10.0.0.1/a.png', 'https://x.example/a.png']) {
    expect(() => encodeTurns([user(image(url))])).toThrow(/send its bytes as base64/);
  }
  const request = requestOf({ turns: [user(image('https://youtu.be/abc'))] });
  expect(encode(request, targetOf('gemini-3-pro'), gemini).contents).toEqual([
    { role: 'user', parts: [{ fileData: { fileUri: 'https://youtu.be/abc' } }] },
  ]);
});

test('V082 public files whose address tells their type are fetched by the public API', () => {
  const partsFor = (url: string, modelId = 'gemini-3-flash-preview', mediaType?: string) => {
    const part: Part = {
      kind: 'media',
      modality: 'image',
      mediaType,
      source: { kind: 'url', url },
    };
    const contents = encode(requestOf({ turns: [user(part)] }), targetOf(modelId), gemini).contents;
    return Array.isArray(contents) ? contents[0] : undefined;
  };
  const fileUri = 'https://a.example/b/Cat.JPG?width=3';
  const parts = [{ fileData: { fileUri, mimeType: 'image/jpeg' } }];
  expect(partsFor(fileUri)).toEqual({ role: 'user', parts });
  expect(partsFor(fileUri, 'gemini-2.5-pro', 'application/pdf')).toEqual({ role: 'user', parts });
  for (const url of ['http://a.example/b.jpg', 'https://a.example/b', 'https://a.example/b.gif']) {
    expect(() => partsFor(url)).toThrow(/send its bytes as base64/);
  }
  for (const model of ['gemini-2.0-flash', 'gemma-3-27b-it']) {
    expect(() => partsFor(fileUri, model)).toThrow(/send its bytes as base64/);
  }
});

test.each([undefined, 'application/pdf'])(
  'the page of a public video is of the type the upstream wants, whatever it was taken for: %s',
  (mediaType) => {
    const url = 'https://www.youtube.com/watch?v=abc';
    const video: Part = {
      kind: 'media',
      modality: 'document',
      mediaType,
      source: { kind: 'url', url },
    };
    const request = requestOf({ turns: [user(video)] });
    const sentTo = (profile: typeof gemini) =>
      encode(request, targetOf('gemini-3-pro'), profile).contents;
    const parts = (fileData: JsonObject) => [{ role: 'user', parts: [{ fileData }] }];
    expect(sentTo(gemini)).toEqual(parts({ fileUri: url }));
    expect(sentTo(createVertexProfile())).toEqual(parts({ fileUri: url, mimeType: 'video/mp4' }));
  },
);

test('V016 V017 a call and its result keep id, name and arguments', () => {
  const signed = call('t1', { signature: { value: 'S' } });
  expect(encodeTurns([user('q'), assistant(signed), user(result('t1'))])).toEqual([
    { role: 'user', parts: [{ text: 'q' }] },
    {
      role: 'model',
      parts: [{ functionCall: { id: 't1', name: 'get', args: { a: 1 } }, thoughtSignature: 'S' }],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 't1', name: 'get', response: { output: 'ok' } } }],
    },
  ]);
});

test('failures are errors and a result object is itself', () => {
  const value = { temperature: 4 };
  const parts: readonly Part[] = [
    { ...result('a'), isError: true } as Part,
    {
      kind: 'tool-result',
      callId: 'b',
      name: 'get',
      content: [{ kind: 'json', value }],
      isError: false,
    },
    { kind: 'tool-result', callId: 'c', name: 'get', content: [], isError: false },
  ];
  expect(
    encodeTurns([user('q'), assistant(call('a'), call('b'), call('c')), user(...parts)]),
  ).toMatchObject([
    {},
    {},
    {
      parts: [
        { functionResponse: { response: { error: 'ok' } } },
        { functionResponse: { response: { temperature: 4 } } },
        { functionResponse: { response: { output: '' } } },
      ],
    },
  ]);
});

test('P067 media of tool results stand inside or behind all results, as the model takes them', () => {
  const media = png();
  if (media.kind !== 'media') throw new Error('a media part was built');
  const withImage: Part = {
    kind: 'tool-result',
    callId: 'a',
    name: 'get',
    content: [{ kind: 'text', text: 'seen' }, media],
    isError: false,
  };
  const turns = [user('q'), assistant(call('a'), call('b')), user(withImage, result('b'), 'go on')];
  const inlineData = { mimeType: 'image/png', data: 'AAA=' };
  const last = (target: EncodeTarget) => {
    const contents = encodeTurns(turns, target);
    return Array.isArray(contents) ? contents.at(-1) : undefined;
  };
  expect(last(targetOf('gemini-3-pro'))).toMatchObject({
    parts: [{ functionResponse: { id: 'a', parts: [{ inlineData }] } }, {}, { text: 'go on' }],
  });
  expect(last(targetOf('gemini-2.5-pro'))).toMatchObject({
    parts: [
      { functionResponse: { id: 'a' } },
      { functionResponse: { id: 'b' } },
      { inlineData },
      { text: 'go on' },
    ],
  });
});

test('P067 a file of a tool result stands behind it where responses hold bytes alone', () => {
  const url = 'https://youtu.be/abc';
  const video: ToolResultContent = {
    kind: 'media',
    modality: 'video',
    mediaType: undefined,
    source: { kind: 'url', url },
  };
  const shown: Part = {
    ...{ kind: 'tool-result', callId: 'a', name: 'get', isError: false },
    content: [video],
  };
  const request = requestOf({ turns: [user('q'), assistant(call('a')), user(shown)] });
  const sentTo = (profile: typeof gemini) => {
    const { contents } = encode(request, targetOf('gemini-3-pro'), profile);
    return Array.isArray(contents) ? contents.at(-1) : undefined;
  };
  const functionResponse = { id: 'a', name: 'get', response: { output: '' } };
  expect(sentTo(gemini)).toEqual({
    role: 'user',
    parts: [{ functionResponse }, { fileData: { fileUri: url } }],
  });
  const parts = [{ fileData: { fileUri: url, mimeType: 'video/mp4' } }];
  expect(sentTo(createVertexProfile())).toEqual({
    role: 'user',
    parts: [{ functionResponse: { ...functionResponse, parts } }],
  });
});

test('V022 a signed thought goes back as it came', () => {
  const thinking: Part = { kind: 'thinking', text: 'hm', signature: { value: 'S' } };
  const target = targetOf('alpha-3-flash');
  expect(modelParts([thinking, { kind: 'text', text: 'x' }], target)).toEqual({
    role: 'model',
    parts: [{ text: 'hm', thought: true, thoughtSignature: 'S' }, { text: 'x' }],
  });
});

test('a thought of which the signature alone was shown goes back to a gateway that said so', () => {
  const sent = (value: string) => {
    const thinking: Part = { kind: 'thinking', text: '', signature: { value, on: 'thinking' } };
    return modelParts([thinking, { kind: 'text', text: 'x' }], targetOf('alpha-3-flash'));
  };
  const value = btoa('gw1:anthropic:thinking:S');
  expect(sent(value)).toEqual({
    role: 'model',
    parts: [{ text: '', thought: true, thoughtSignature: value }, { text: 'x' }],
  });
  expect(sent('S')).toEqual({ role: 'model', parts: [{ text: 'x' }] });
});

test('V025 V026 P011 empty and redacted thoughts leave no part behind', () => {
  const target = targetOf('alpha-3-flash');
  const parts: readonly Part[] = [
    { kind: 'thinking', text: '' },
    { kind: 'redacted-thinking', payload: 'zz' },
    { kind: 'text', text: 'x' },
  ];
  expect(modelParts(parts, target)).toEqual({ role: 'model', parts: [{ text: 'x' }] });
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped' }]);
});

test('V027 P009 thoughts stay out when thinking is off or unknown to the model', () => {
  const thinking: Part = { kind: 'thinking', text: 'hm', signature: { value: 'S' } };
  const turns = [user('q'), assistant(thinking, 'x'), user('next')];
  const off: Partial<CanonicalRequest> = { reasoning: { amount: { kind: 'off' } }, turns };
  const expected = [{}, { role: 'model', parts: [{ text: 'x' }] }, {}];
  expect(encode(requestOf(off), targetOf('alpha-3-flash'), sandbox).contents).toMatchObject(
    expected,
  );
  expect(encodeTurns(turns, targetOf('alpha-3-pro-image'))).toMatchObject(expected);
});

test('P026 a signature carried by thinking goes to the part it was issued for', () => {
  const parts: readonly Part[] = [
    { kind: 'thinking', text: 'hm', signature: { value: 'C', on: 'tool-call' } },
    { kind: 'text', text: 'let me see' },
    call('t1'),
    call('t2'),
  ];
  expect(modelParts(parts)).toEqual({
    role: 'model',
    parts: [
      { text: 'hm', thought: true },
      { text: 'let me see' },
      { functionCall: { id: 't1', name: 'get', args: { a: 1 } }, thoughtSignature: 'C' },
      { functionCall: { id: 't2', name: 'get', args: { a: 1 } } },
    ],
  });
});

test('a carried signature never reaches a second call when the first has its own', () => {
  const parts: readonly Part[] = [
    { kind: 'thinking', text: '', signature: { value: 'C', on: 'tool-call' } },
    call('t1', { signature: { value: 'C', on: 'tool-call' } }),
    call('t2'),
  ];
  expect(modelParts(parts)).toMatchObject({
    parts: [{ thoughtSignature: 'C' }, { functionCall: { id: 't2' } }],
  });
  expect(JSON.stringify(modelParts(parts)).split('thoughtSignature')).toHaveLength(2);
});

test('P026 a signature of a text that is gone stands on an empty text', () => {
  const thinking: Part = { kind: 'thinking', text: 'hm', signature: { value: 'T', on: 'text' } };
  expect(modelParts([thinking])).toEqual({
    role: 'model',
    parts: [
      { text: 'hm', thought: true },
      { text: '', thoughtSignature: 'T' },
    ],
  });
});

test('P001 unsigned first calls of the current turn get the stand-in where it is taken', () => {
  const turns = [
    user('old'),
    assistant(call('t0')),
    user(result('t0')),
    assistant('done'),
    user('q'),
    assistant(call('t1'), call('t2')),
    user(result('t1'), result('t2')),
    assistant(call('t3', { signature: { value: 'S' } })),
    user(result('t3')),
  ];
  const signatures = (target: EncodeTarget) =>
    [...JSON.stringify(encodeTurns(turns, target)).matchAll(/"thoughtSignature":"([^"]+)"/g)].map(
      (match) => match[1],
    );
  const standIn = 'skip_thought_signature_validator';
  expect(signatures(targetOf('alpha-3-flash'))).toEqual([standIn, 'S']);
  expect(signatures(targetOf('gemini-2.5-pro'))).toEqual(['S']);
  const missed = { usesPlaceholders: true };
  expect(signatures(targetOf('gemini-2.5-pro', missed))).toEqual([standIn, standIn, 'S']);
  expect(signatures(targetOf('alpha-3-flash', missed))).toEqual([standIn, standIn, 'S']);
});

test('P013 a model that missed a signature of what it drew or said gets the stand-in there', () => {
  const drawn = [{ kind: 'text', text: 'Here' } as const, png(), png('BBB='), 'and this'].map(
    (part): Part => (typeof part === 'string' ? { kind: 'text', text: part } : part),
  );
  const thoughtSignature = 'skip_thought_signature_validator';
  const missed = {
    usesPlaceholders: true,
    capabilities: capabilitiesOf(gemini, 'gemini-3-pro-image'),
  };
  const target = targetOf('gemini-3-pro-image', missed);
  expect(modelParts(drawn, target)).toMatchObject({
    parts: [
      { text: 'Here', thoughtSignature },
      { inlineData: { data: 'AAA=' }, thoughtSignature },
      { inlineData: { data: 'BBB=' }, thoughtSignature },
      { text: 'and this' },
    ],
  });
  expect(target.receipt.entries).toContainEqual(expect.objectContaining({ action: 'repaired' }));
  expect(JSON.stringify(modelParts(drawn, targetOf('gemini-3-pro-image')))).not.toContain('skip_');
  const signed: Part = { ...png(), signature: { value: 'S' } } as Part;
  expect(modelParts([signed], target)).toMatchObject({ parts: [{ thoughtSignature: 'S' }] });
});

test('tools the provider ran and code of other languages are text', () => {
  const parts: readonly Part[] = [
    { kind: 'server-tool-call', id: 's', name: 'web_search', input: { query: 'q' } },
    { kind: 'server-tool-result', callId: 's', name: 'web_search', text: 'found' },
    { kind: 'code', language: 'PYTHON', code: 'print(1)', id: 'c' },
    { kind: 'code', language: 'bash', code: 'ls' },
    { kind: 'code-result', outcome: 'timeout', output: '', id: 'c' },
  ];
  expect(modelParts(parts)).toEqual({
    role: 'model',
    parts: [
      { text: '[web_search was called with {"query":"q"}]' },
      { text: '[Result of web_search]\nfound' },
      { executableCode: { language: 'PYTHON', code: 'print(1)', id: 'c' } },
      { text: '```bash\nls\n```' },
      { codeExecutionResult: { outcome: 'OUTCOME_DEADLINE_EXCEEDED', output: '', id: 'c' } },
    ],
  });
});

test('a detail level goes with single media where the model takes it, else the receipt tells', () => {
  const detailed = { ...png(), resolution: 'low' } as Part;
  const target = targetOf('alpha-3-flash');
  expect(JSON.stringify(encodeTurns([user(detailed)], target))).not.toContain('mediaResolution');
  expect(target.receipt.entries).toMatchObject([{ action: 'dropped', path: 'messages' }]);
  expect(encodeTurns([user(detailed)], targetOf('gemini-3-pro'))).toMatchObject([
    { parts: [{ mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } }] },
  ]);
});

test('a detail level of a medium inside a tool result has no place there, and the receipt tells', () => {
  const detailed = { ...png(), resolution: 'low' } as ToolResultContent;
  const shown: Part = {
    ...{ kind: 'tool-result', callId: 't1', name: 'get', isError: false },
    content: [detailed],
  };
  const target = targetOf('gemini-3-pro');
  const contents = encodeTurns([user('q'), assistant(call('t1')), user(shown)], target);
  expect(contents).toMatchObject([
    {},
    {},
    { parts: [{ functionResponse: { parts: [{ inlineData: { data: 'AAA=' } }] } }] },
  ]);
  expect(JSON.stringify(contents)).not.toContain('mediaResolution');
  expect(target.receipt.entries).toContainEqual(
    expect.objectContaining({
      action: 'dropped',
      reason: expect.objectContaining({ text: expect.stringContaining('detail level') }),
    }),
  );
});

test('a failed result that is an object says so, and a signature without its part is told', () => {
  const failed: Part = {
    ...{ kind: 'tool-result', callId: 't1', name: 'get', isError: true },
    content: [{ kind: 'json', value: { code: 1 } }],
  };
  expect(encodeTurns([user('q'), assistant(call('t1')), user(failed)])).toMatchObject([
    {},
    {},
    { parts: [{ functionResponse: { response: { error: { code: 1 } } } }] },
  ]);
  const target = targetOf('alpha-3-flash');
  const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;
  modelParts(
    [
      { kind: 'thinking', text: 'hm', signature },
      { kind: 'text', text: 'a' },
    ],
    target,
  );
  expect(target.receipt.entries).toMatchObject([
    { action: 'dropped', reason: { text: expect.stringContaining('not in the history') } },
  ]);
});
