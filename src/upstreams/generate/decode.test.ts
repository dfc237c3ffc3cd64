import { expect, test } from 'vitest';
import { fold } from '../../canonical/fold.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import {
  blocksOf,
  decode,
  errorOf,
  frame,
  reasonOf,
  reply,
  signed,
  stop,
  thought,
} from './decode.test-support.ts';
import { GenerateDecoder } from './decode.ts';

test('V050, V061: text fragments are one block, usage comes before the finish', () => {
  const events = decode(
    {
      ...frame([{ text: 'Hel' }]),
      responseId: 'r1',
      modelVersion: 'alpha-3',
      usageMetadata: { promptTokenCount: 10 },
    },
    { ...stop([{ text: 'lo' }]) },
    { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } },
  );
  const usage = { promptTokens: 10, cachedTokens: 0, toolPromptTokens: 0, thoughtTokens: 0 };
  expect(events).toEqual([
    {
      kind: 'start',
      upstreamId: 'r1',
      modelVersion: 'alpha-3',
      usage: { ...usage, answerTokens: 0 },
    },
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'Hel' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'text', text: 'lo' } },
    { kind: 'block-end', index: 0 },
    { kind: 'usage', usage: { ...usage, answerTokens: 5 } },
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop', rawReason: 'STOP' }] },
  ]);
});

test('V051, P085, P086: the last usage wins, cached and thought tokens are kept apart', () => {
  const { usage } = reply(
    { ...frame([{ text: 'a' }]), usageMetadata: { promptTokenCount: 100, thoughtsTokenCount: 3 } },
    {
      ...stop(),
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        toolUsePromptTokenCount: 4,
        thoughtsTokenCount: 7,
        totalTokenCount: 120,
      },
    },
  );
  expect(usage).toEqual({
    promptTokens: 100,
    cachedTokens: 60,
    toolPromptTokens: 4,
    answerTokens: 9,
    thoughtTokens: 7,
  });
});

test('thoughts that the total has among those of the answer are counted once', () => {
  const counts = { promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 15 };
  const usageOf = (totalTokenCount: number) =>
    reply({ ...stop([{ text: 'a' }]), usageMetadata: { ...counts, totalTokenCount } }).usage;
  expect(usageOf(120)).toMatchObject({ answerTokens: 5, thoughtTokens: 15 });
  expect(usageOf(135)).toMatchObject({ answerTokens: 20, thoughtTokens: 15 });
});

test('the counts told so far are known while the answer still comes, and when it breaks off', () => {
  const decoder = new GenerateDecoder(
    { signatureFamily: 'alpha', createId: (prefix) => prefix },
    () => 0,
  );
  expect(decoder.usage).toBeUndefined();
  const counts = { promptTokenCount: 9, candidatesTokenCount: 1 };
  decoder.push({ ...frame([{ text: 'a' }]), usageMetadata: counts });
  expect(decoder.usage).toEqual({ ...NO_USAGE, promptTokens: 9, answerTokens: 1 });
  const more = { usageMetadata: { ...counts, candidatesTokenCount: 2 } };
  decoder.push({ ...frame([{ text: 'b' }]), ...more });
  decoder.push({ error: { code: 503, message: 'busy' } });
  expect(decoder.usage).toEqual({ ...NO_USAGE, promptTokens: 9, answerTokens: 2 });
});

test.each([1e17, 2 ** 53, 1e300, -5, '9223372036854775807', 'many'])(
  'a count of %s tokens is none',
  (count) => {
    const usageMetadata = {
      promptTokenCount: count,
      cachedContentTokenCount: count,
      toolUsePromptTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      totalTokenCount: count,
    };
    const { usage } = reply({ ...stop([{ text: 'a' }]), usageMetadata });
    expect(usage).toEqual(NO_USAGE);
  },
);

test('V053, V063: a call keeps its id and arguments; STOP with calls is tool-calls', () => {
  const call = { functionCall: { id: 'c1', name: 'w', args: { c: 'P', version: '01.0' } } };
  expect(blocksOf(stop([call]))).toEqual([
    { kind: 'tool-call', id: 'c1', name: 'w', input: { c: 'P', version: '01.0' } },
  ]);
  expect(reasonOf(stop([call]))).toBe('tool-calls');
});

test('V053, P047: calls without an id, or with a repeated one, get fresh ids', () => {
  const blocks = blocksOf(
    frame([{ functionCall: { name: 'a' } }, { functionCall: { id: 'x', name: 'b', args: {} } }]),
    stop([{ functionCall: { id: 'x', name: 'b' } }]),
  );
  expect(blocks?.map((block) => 'id' in block && block.id)).toEqual(['call_1', 'x', 'call_2']);
});

test('arguments that are keys of objects’ own prototypes survive', () => {
  const args = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
  const [block] = blocksOf(stop([{ functionCall: { name: 'w', args } }])) ?? [];
  expect(JSON.stringify(block && 'input' in block && block.input)).toBe(JSON.stringify(args));
});

test('V054: MAX_TOKENS is max-tokens, with a call tool-calls, and may be empty', () => {
  const cut = (parts: JsonObject[]) => frame(parts, { finishReason: 'MAX_TOKENS' });
  expect(reasonOf(cut([{ text: 'a' }]))).toBe('max-tokens');
  expect(reasonOf(cut([{ functionCall: { name: 'w' } }]))).toBe('tool-calls');
  expect(reasonOf(cut([thought('hm')]))).toBe('max-tokens');
  expect(reasonOf(cut([]))).toBe('max-tokens');
});

test('a finish reason in small letters is the same reason', () => {
  expect(reasonOf(frame([{ text: 'a' }], { finishReason: 'max_tokens' }))).toBe('max-tokens');
  expect(reasonOf(frame([{ text: 'a' }], { finishReason: 'safety' }))).toBe('safety');
});

test('STOP with nothing before it is an answer where the request has stop sequences, else an error', () => {
  const endOf = (stopSequences: string[], ...frames: readonly JsonObject[]) => {
    const body = { contents: [], generationConfig: { stopSequences } };
    const createId = (prefix: string) => prefix;
    const decoder = new GenerateDecoder({ signatureFamily: 'alpha', createId, body }, () => 0);
    return [...frames.flatMap((one) => decoder.push(one)), ...decoder.end()].at(-1);
  };
  const finished = { kind: 'finish', choices: [{ choice: 0, reason: 'stop', rawReason: 'STOP' }] };
  expect(endOf(['END'], stop())).toMatchObject(finished);
  expect(endOf(['END'], frame([thought('hm')]), stop())).toMatchObject(finished);
  expect(endOf(['END'], { candidates: [{ finishReason: 'STOP' }] })).toMatchObject(finished);
  expect(endOf([], stop())).toMatchObject({ kind: 'error' });
  expect(endOf(['END'], frame([], { finishReason: 'OTHER' }))).toMatchObject({ kind: 'error' });
  expect(endOf(['END'], frame([]))).toMatchObject({ kind: 'error' });
  expect(endOf(['END'], { usageMetadata: {} })).toMatchObject({ kind: 'error' });
});

test.each([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'ESCALATION',
  'MODEL_ARMOR',
])('V090: %s is a safety ending, with or without content', (finishReason) => {
  expect(reasonOf(frame([], { finishReason }))).toBe('safety');
  expect(reasonOf(frame([{ text: 'a' }], { finishReason }))).toBe('safety');
});

test.each(['LANGUAGE', 'OTHER', 'NO_IMAGE', 'IMAGE_OTHER', 'SOMETHING_NEW'])(
  'B7: %s is an odd stop with content and an error without',
  (finishReason) => {
    const end = decode(frame([{ text: 'a' }], { finishReason })).at(-1);
    expect(end).toMatchObject({ choices: [{ isOdd: true, rawReason: finishReason }] });
    const call = [{ functionCall: { name: 'f', args: {} } }];
    expect(decode(frame(call, { finishReason })).at(-1)).toMatchObject({
      choices: [{ reason: 'tool-calls', isOdd: true }],
    });
    expect(reasonOf(frame([{ text: 'a' }], { finishReason }))).toBe('stop');
    expect(errorOf(frame([], { finishReason }))?.failure?.kind).toBe('unusable-answer');
  },
);

test.each([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
])('%s is an error worth another attempt', (finishReason) => {
  expect(errorOf(frame([{ text: 'a' }], { finishReason }))).toMatchObject({
    kind: 'upstream-unavailable',
    failure: { kind: 'unusable-answer' },
  });
});

test.each([
  ['MISSING_THOUGHT_SIGNATURE', 'missing-signature', 'invalid-request'],
  ['PUP_LIMITED_DISABLED', 'model-forbidden', 'upstream-rejected'],
])('%s is a refusal told as an ending, with or without content', (finishReason, failed, kind) => {
  for (const parts of [[], [{ text: 'a' }]]) {
    expect(errorOf(frame(parts, { finishReason, finishMessage: 'see key' }))).toMatchObject({
      kind,
      failure: { kind: failed, finishReason, detail: 'see key' },
    });
  }
});

test('V090: a blocked prompt is a finish without content', () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'no' } };
  expect(reply(blocked, { usageMetadata: { promptTokenCount: 3 } }).choices).toMatchObject([
    { end: { reason: 'prompt-blocked', rawReason: 'SAFETY', message: 'no' }, blocks: [] },
  ]);
});

test.each<[string, JsonObject[]]>([
  ['nothing at all (V068)', []],
  ['keep-alives only (V068)', [{}, {}]],
  ['no candidates', [{ usageMetadata: { promptTokenCount: 1 } }]],
  ['text without a finish reason (P081)', [frame([{ text: 'a' }])]],
])('an answer of %s is a fault of the path', (_name, frames) => {
  expect(errorOf(...frames)?.failure).toEqual({ kind: 'path' });
});

test.each<[string, JsonObject[]]>([
  ['STOP without parts (P080)', [stop()]],
  ['STOP after thoughts only (P024)', [stop([thought('hm')])]],
  ['an unnamed call', [stop([{ functionCall: {} }])]],
])('an answer of %s is the model’s, worth another attempt', (_name, frames) => {
  expect(errorOf(...frames)?.failure).toEqual({ kind: 'unusable-answer' });
});

test('what the upstream says of an ending is told without the account it names', () => {
  const said = 'Stopped for projects/my-project by bob@example.com.';
  const told = 'Stopped for projects/<project> by <email>.';
  const withheld = frame([], { finishReason: 'SAFETY', finishMessage: said });
  expect(reply(withheld).choices[0]?.end.message).toBe(told);
  const blocked = { promptFeedback: { blockReason: 'OTHER', blockReasonMessage: said } };
  expect(reply(blocked).choices[0]?.end.message).toBe(told);
});

test('keep-alives start nothing', () => {
  expect(decode({}, {}).map((event) => event.kind)).toEqual(['error']);
});

test('an error frame ends the answer as its status would, blocks closed', () => {
  const events = decode(
    frame([{ text: 'a' }]),
    { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
    stop([{ text: 'b' }]),
  );
  expect(events.map((event) => event.kind)).toEqual([
    'start',
    'block-start',
    'block-delta',
    'block-end',
    'error',
  ]);
  expect(events.at(-1)).toMatchObject({ error: { failure: { kind: 'rate-limited' } } });
});

test('V056: media, code and results are blocks of their own', () => {
  const blocks = blocksOf(
    stop([
      { inlineData: { mimeType: 'image/png', data: 'AAA=' }, ...signed('S') },
      { executableCode: { language: 'PYTHON', code: 'x', id: 'e' } },
      { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'y' } },
      { codeExecutionResult: { outcome: 'OUTCOME_DEADLINE_EXCEEDED' } },
    ]),
  );
  expect(blocks).toEqual([
    {
      kind: 'media',
      mediaType: 'image/png',
      base64: 'AAA=',
      signature: { value: 'S', family: 'alpha', on: 'media' },
    },
    { kind: 'code', language: 'python', code: 'x', id: 'e' },
    { kind: 'code-result', outcome: 'failed', output: 'y' },
    { kind: 'code-result', outcome: 'timeout', output: '' },
  ]);
});

test('drafts drawn while thinking are left out', () => {
  const draft = { inlineData: { mimeType: 'image/png', data: 'AAA=' }, thought: true };
  expect(blocksOf(stop([draft, { text: 'a' }]))).toEqual([{ kind: 'text', text: 'a' }]);
});

test('drafts are passed on where they are asked for, and are no answer by themselves', () => {
  const draft = { inlineData: { mimeType: 'image/png', data: 'AAA=' }, thought: true };
  const decodeDrafts = (value: JsonObject) => {
    const context = { signatureFamily: 'alpha', createId: (prefix: string) => prefix };
    const decoder = new GenerateDecoder({ ...context, showsDrafts: true }, () => 0);
    return [...decoder.push(value), ...decoder.end()];
  };
  expect(fold(decodeDrafts(stop([draft, { text: 'a' }]))).choices[0]?.blocks).toEqual([
    { kind: 'media', mediaType: 'image/png', base64: 'AAA=', isDraft: true },
    { kind: 'text', text: 'a', signature: undefined },
  ]);
  expect(decodeDrafts(stop([draft])).at(-1)).toMatchObject({ kind: 'error' });
});

test('choices are told apart by index', () => {
  const candidate = (index: number, text: string, finishReason?: string): JsonObject => ({
    ...(index === 0 ? {} : { index }),
    content: { parts: [{ text }] },
    ...(finishReason === undefined ? {} : { finishReason }),
  });
  const { choices } = reply(
    { candidates: [candidate(1, 'x'), candidate(0, 'a')] },
    { candidates: [candidate(0, 'b', 'STOP')] },
    { candidates: [candidate(1, 'y', 'MAX_TOKENS')] },
  );
  expect(choices).toMatchObject([
    { end: { choice: 0, reason: 'stop' }, blocks: [{ text: 'ab' }] },
    { end: { choice: 1, reason: 'max-tokens' }, blocks: [{ text: 'xy' }] },
  ]);
});

test.each([[[1]], [[1, 2]], [[3, 1]]])(
  'candidates numbered %j are counted from the first choice on, in the order of their numbers',
  (indices) => {
    const candidate = (index: number, text: string, finishReason?: string) => ({
      index,
      content: { parts: [{ text }] },
      ...(finishReason === undefined ? {} : { finishReason }),
    });
    const { choices } = reply(
      { candidates: indices.map((index) => candidate(index, `${index}`)) },
      { candidates: indices.map((index) => candidate(index, '!', 'STOP')) },
    );
    const sorted = indices.toSorted((left, right) => left - right);
    expect(choices).toMatchObject(
      sorted.map((index, choice) => ({ end: { choice }, blocks: [{ text: `${index}!` }] })),
    );
  },
);

test.each([-1, 0.5, 4_294_967_296, 'first'])(
  'a candidate of the impossible index %s is the first choice, which every client sees',
  (index) => {
    const candidate = { index, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' };
    expect(decode({ candidates: [candidate] })).toContainEqual({
      kind: 'block-start',
      index: 0,
      choice: 0,
      block: { kind: 'text' },
    });
  },
);

test('the pages that were opened are told with the grounding, each once and with its last word', () => {
  const opened = (...pages: readonly [url: JsonValue, status?: JsonValue][]): JsonObject => ({
    urlContextMetadata: {
      urlMetadata: pages.map(([retrievedUrl, status = null]) => ({
        retrievedUrl,
        urlRetrievalStatus: status === null ? status : `URL_RETRIEVAL_STATUS_${status}`,
      })),
    },
  });
  const [{ grounding } = { grounding: undefined }] = reply(
    frame([{ text: 'a' }], opened(['u1', 'ERROR'], ['u2', 'UNSAFE'])),
    frame([{ text: 'b' }], opened(['u1', 'SUCCESS'], ['', 'SUCCESS'], [7])),
    frame([], { finishReason: 'STOP', ...opened(['u3', 'PAYWALL'], ['u4']) }),
  ).choices;
  expect(grounding).toEqual({
    ...{ kind: 'grounding', choice: 0, queries: [], sources: [], citations: [] },
    pages: [
      { url: 'u1', outcome: 'read' },
      { url: 'u2', outcome: 'refused' },
      { url: 'u3', outcome: 'unreachable' },
      { url: 'u4', outcome: 'unknown' },
    ],
  });
});

const trace = (queries: readonly string[]): JsonObject => ({
  toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 's', args: { queries: [...queries] } },
});
const early = (...queries: readonly string[]) => ({
  ...{ kind: 'grounding', choice: 0, sources: [], citations: [], isEarly: true },
  queries,
});

test('a search is told before the words it led to, and again with what it found', () => {
  const groundingMetadata = {
    webSearchQueries: ['', 'a', 'b'],
    groundingChunks: [{ web: { uri: 'u', title: 'T' } }],
  };
  const events = decode(
    frame([thought('Hm')]),
    frame([trace(['a'])]),
    frame([trace(['a', 'b'])]),
    frame([{ text: 'word' }]),
    frame([trace(['c'])]),
    frame([], { finishReason: 'STOP', groundingMetadata }),
  );
  const found = { queries: ['a', 'b'], sources: [{ url: 'u', title: 'T' }], citations: [] };
  expect(events.filter(({ kind }) => kind === 'grounding')).toEqual([
    early('a'),
    early('a', 'b'),
    { kind: 'grounding', choice: 0, ...found },
  ]);
  const first = (kind: string) => events.findIndex((event) => event.kind === kind);
  const text = events.findIndex((event) => event.kind === 'block-start' && event.index === 1);
  expect(first('grounding')).toBeLessThan(text);
});

test('queries that come with the first words are told before them, those of other tools never', () => {
  const groundingMetadata = { webSearchQueries: ['q'] };
  const pages = { toolCall: { toolType: 'URL_CONTEXT', args: { queries: ['p'] } } };
  const [, told] = decode(frame([pages, { text: 'a' }], { groundingMetadata }), stop());
  expect(told).toEqual(early('q'));
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'sources',
    { groundingMetadata: { groundingChunks: [{ web: { uri: 'u', title: 'T' } }] } },
    { sources: [{ url: 'u', title: 'T' }] },
  ],
  [
    'pages',
    {
      urlContextMetadata: {
        urlMetadata: [{ retrievedUrl: 'u', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
      },
    },
    { pages: [{ url: 'u', outcome: 'read' }] },
  ],
])('a search told before stays where the end tells only %s', (_name, metadata, found) => {
  const events = decode(
    frame([trace(['a']), { text: 'word' }]),
    frame([], { finishReason: 'STOP', ...metadata }),
  );
  expect(events.findLast(({ kind }) => kind === 'grounding')).toMatchObject({
    queries: ['a'],
    ...found,
  });
});

test('V055, P108: grounding that comes late stands before the end of the text it describes', () => {
  const groundingMetadata = {
    webSearchQueries: ['q'],
    groundingChunks: [{ web: { uri: 'u', title: 'T' } }],
    groundingSupports: [
      { segment: { startIndex: 4, endIndex: 8, text: 'cité' }, groundingChunkIndices: [0] },
    ],
  };
  const events = decode(
    frame([thought('hm')]),
    frame([{ text: 'Is c' }]),
    frame([{ text: 'ité.' }]),
    frame([], { finishReason: 'STOP', groundingMetadata }),
  );
  expect(events.map((event) => event.kind).slice(-3)).toEqual(['grounding', 'block-end', 'finish']);
  expect(events.find((event) => event.kind === 'grounding')).toEqual({
    kind: 'grounding',
    choice: 0,
    queries: ['q'],
    sources: [{ url: 'u', title: 'T' }],
    citations: [{ startIndex: 3, endIndex: 7, text: 'cité', sources: [0] }],
  });
});

test('unknown parts and fields are passed over', () => {
  const odd = [
    { toolCall: { id: 'x' } },
    { fileData: { mimeType: 'x' } },
    { text: null },
    {},
    { inlineData: { data: 1 } },
  ];
  expect(blocksOf(stop([...odd, { text: 'a', future: true }]), { candidates: null })).toEqual([
    { kind: 'text', text: 'a' },
  ]);
});

test('P085 the last counts there were are those of the answer, whatever frames come behind them', () => {
  const counted = (candidatesTokenCount: number) => ({
    ...frame([{ text: 'a' }]),
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount },
  });
  const { usage } = reply(counted(1), counted(3), stop([{ text: 'b' }]));
  expect(usage).toMatchObject({ promptTokens: 9, answerTokens: 3 });
});

test('what a model heard is the text of its answer', () => {
  const heard = (text: string) => ({ audioTranscription: { text, languageCode: 'en' } });
  expect(
    blocksOf(frame([heard('Hello')]), stop([heard(' there.'), { audioTranscription: {} }])),
  ).toEqual([{ kind: 'text', text: 'Hello there.' }]);
});

test('parts of unknown kinds are an answer only where the client is shown them as they come', () => {
  const parts = [{ toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 's' } }, { newest: { a: 1 } }];
  expect(errorOf(stop(parts))?.message).toContain('empty');
  const context = { signatureFamily: 'alpha', createId: (prefix: string) => prefix };
  const decoder = new GenerateDecoder({ ...context, passesParts: true }, () => 0);
  const events = [...decoder.push(stop(parts)), ...decoder.end()];
  expect(events.at(-1)).toMatchObject({ kind: 'finish', choices: [{ reason: 'stop' }] });
  const bare = new GenerateDecoder({ ...context, passesParts: true }, () => 0);
  bare.push(stop([{ text: '' }, { thoughtSignature: 'QUJD' }]));
  expect(bare.end().at(-1)).toMatchObject({ kind: 'error' });
});

test('pages whose words are recited are told with the end, in both spellings of the list', () => {
  const from = (...uris: string[]) => uris.map((uri) => ({ startIndex: 1, endIndex: 9, uri }));
  const ends = (first: JsonObject, last: JsonObject) =>
    decode(
      frame([{ text: 'a' }], { citationMetadata: first }),
      frame([{ text: 'b' }], { finishReason: 'STOP', citationMetadata: last }),
    ).at(-1);
  expect(ends({ citationSources: from('x') }, { citations: from('y', 'x') })).toMatchObject({
    choices: [{ recited: ['x', 'y'] }],
  });
  expect(ends({ citations: [{ endIndex: 3, title: 'A book' }] }, {})).toMatchObject({
    choices: [{ recited: ['A book'] }],
  });
  expect(ends({ citationSources: [{ endIndex: 3 }] }, {})).toMatchObject({
    choices: [{ recited: undefined }],
  });
});

test('parts of kinds unknown here are named with the end, but for whom they are passed on to', () => {
  const parts = [{ hologram: { data: 'x' }, thoughtSignature: 'QUJD' }, { text: 'a' }];
  const context = { signatureFamily: 'alpha', createId: (prefix: string) => prefix };
  const endOf = (passesParts: boolean) => {
    const decoder = new GenerateDecoder({ ...context, passesParts }, () => 0);
    return [...decoder.push(stop(parts)), ...decoder.end()].at(-1);
  };
  expect(endOf(false)).toMatchObject({
    kind: 'finish',
    choices: [{ unsupportedKinds: ['hologram'] }],
  });
  expect(endOf(true)).toMatchObject({ kind: 'finish', choices: [{ unsupportedKinds: undefined }] });
  expect(decode(stop([{ text: 'a' }, { text: '' }, {}])).at(-1)).toMatchObject({
    choices: [{ unsupportedKinds: undefined }],
  });
});

test.each<[string, JsonObject]>([
  ['parts without a text', { content: { parts: [{ text: null }] } }],
  ['a call without a name', { content: { parts: [{ text: 'a' }, { functionCall: { x: 1 } }] } }],
  ['a call that is none', { content: { parts: [{ functionCall: 'f' }] } }],
  ['a medium that is none', { content: { parts: [{ inlineData: null }] } }],
  ['a kind unknown here without a value', { content: { parts: [{ newest: true }] } }],
  ['a text that is none', { content: { parts: [{ text: 'a' }, { text: 7 }] } }],
  ['a part that is none', { content: { parts: [{ text: 'a' }, 'b'] } }],
  ['a text in place of parts', { content: { parts: 'a' } }],
  ['a text in place of the content', { content: 'a' }],
])('an answer is an error in both lanes where it has %s', (_name, candidate) => {
  for (const passesParts of [false, true]) {
    const context = { signatureFamily: 'alpha', createId: (prefix: string) => prefix, passesParts };
    const decoder = new GenerateDecoder(context, () => 0);
    const candidates = [{ ...candidate, finishReason: 'STOP' }];
    const events = [...decoder.push({ candidates }), ...decoder.end()];
    expect(events.at(-1)?.kind).toBe('error');
  }
  const decoder = new GenerateDecoder({ signatureFamily: 'a', createId: (id) => id }, () => 0);
  expect(decoder.push({ candidates: 'a' }).at(-1)?.kind).toBe('error');
});

test('what waits for the end of a call, for the next one or for the end counts as held until it is given out', () => {
  const decoder = new GenerateDecoder({ signatureFamily: 'alpha', createId: String }, () => 0);
  const long = 'y'.repeat(100_000);
  const call = (partialArgs: readonly JsonObject[], more: JsonObject = {}) =>
    frame([{ functionCall: { partialArgs: [...partialArgs], willContinue: true, ...more } }]);
  decoder.push(call([], { name: 'write' }));
  decoder.push(call([{ jsonPath: '$.text', stringValue: long }]));
  expect(decoder.heldBytes).toBeGreaterThan(100_000);
  decoder.push(frame([{ functionCall: {} }]));
  expect(decoder.heldBytes).toBeLessThan(1_000);
  decoder.push(frame([{ toolCall: { text: long } }]));
  expect(decoder.heldBytes).toBeGreaterThan(100_000);
  decoder.push(frame([{ functionCall: { name: 'write', args: {} } }]));
  expect(decoder.heldBytes).toBeLessThan(1_000);
  const sources = { groundingChunks: [{ web: { uri: 'https://a.test/', title: long } }] };
  for (let n = 0; n < 3; n += 1)
    decoder.push(frame([{ text: 'a' }], { groundingMetadata: sources }));
  expect(decoder.heldBytes).toBeGreaterThan(100_000);
  expect(decoder.heldBytes).toBeLessThan(102_000);
  const rated = { chosenCandidates: [{ token: long, logProbability: -1 }] };
  decoder.push(frame([{ text: 'a' }], { logprobsResult: rated }));
  expect(decoder.heldBytes).toBeGreaterThan(200_000);
});
