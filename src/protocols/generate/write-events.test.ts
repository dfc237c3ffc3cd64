import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent, ChoiceEnd } from '../../canonical/event.ts';
import { fold } from '../../canonical/fold.ts';
import type { Signature } from '../../canonical/request.ts';
import { EventWriter } from './write-events.ts';
import { writeReply } from './write-reply.ts';

const CONTEXT = {
  model: 'alpha-3-flash',
  createId: (prefix: string) => `${prefix}id-1`,
  createdAt: 0,
};
const SHOWN = { showThoughts: true };
const SIGNATURE: Signature = { value: 'U0lH', family: 'beta', on: 'thinking' };
const USAGE = {
  promptTokens: 10,
  cachedTokens: 4,
  toolPromptTokens: 1,
  answerTokens: 5,
  thoughtTokens: 2,
};
const START: CanonicalEvent = { kind: 'start', upstreamId: 'r1', modelVersion: 'v1' };

function text(index: number, pieces: readonly string[], choice = 0): CanonicalEvent[] {
  return [
    { kind: 'block-start', index, choice, block: { kind: 'text' } },
    ...pieces.map(
      (piece): CanonicalEvent => ({
        kind: 'block-delta',
        index,
        delta: { kind: 'text', text: piece },
      }),
    ),
    { kind: 'block-end', index },
  ];
}

function thinking(index: number, thought: string, signature?: Signature): CanonicalEvent[] {
  return [
    { kind: 'block-start', index, choice: 0, block: { kind: 'thinking' } },
    { kind: 'block-delta', index, delta: { kind: 'thinking', text: thought } },
    { kind: 'block-end', index, signature },
  ];
}

function call(index: number, json: readonly string[], signature?: Signature): CanonicalEvent[] {
  const id = `call_${index}`;
  return [
    {
      kind: 'block-start',
      index,
      choice: 0,
      block: { kind: 'tool-call', id, name: 'w', signature },
    },
    ...json.map(
      (piece): CanonicalEvent => ({
        kind: 'block-delta',
        index,
        delta: { kind: 'arguments', json: piece },
      }),
    ),
    { kind: 'block-end', index },
  ];
}

function finish(reason: ChoiceEnd['reason'], more: Partial<ChoiceEnd> = {}): CanonicalEvent[] {
  return [
    { kind: 'usage', usage: USAGE },
    { kind: 'finish', choices: [{ choice: 0, reason, ...more }] },
  ];
}

function stream(events: readonly CanonicalEvent[], options = SHOWN): string {
  const writer = new EventWriter(CONTEXT, 'events', options);
  return events.map((event) => writer.write(event)).join('');
}

function chunksOf(events: readonly CanonicalEvent[], options = SHOWN) {
  const blocks = stream(events, options).split('\n\n').slice(0, -1);
  return blocks.map((block) => JSON.parse(block.slice('data: '.length)));
}

const WHOLE_ANSWER = [
  START,
  ...thinking(0, 'hm', SIGNATURE),
  ...text(1, ['Hel', 'lo']),
  ...call(2, ['{"c":', '12345678901234567890}'], { ...SIGNATURE, on: 'tool-call' }),
  ...finish('tool-calls'),
];

test('a whole answer as a stream of events', async () => {
  await expect(stream(WHOLE_ANSWER)).toMatchFileSnapshot('__fixtures__/whole-answer.sse.golden');
});

test('a whole answer as one body', async () => {
  const body = writeReply(fold(WHOLE_ANSWER), CONTEXT, SHOWN);
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(
    '__fixtures__/whole-answer.json.golden',
  );
});

test('a whole answer as a JSON array is the same chunks', () => {
  const writer = new EventWriter(CONTEXT, 'array', SHOWN);
  const output = WHOLE_ANSWER.map((event) => writer.write(event)).join(writer.keepAlive());
  expect(JSON.parse(output)).toEqual(chunksOf(WHOLE_ANSWER));
});

test('P024 P080 every chunk has a part, and the last one the finish reason and the usage', () => {
  const chunks = chunksOf(WHOLE_ANSWER);
  for (const chunk of chunks) {
    expect(chunk).toMatchObject({ modelVersion: 'v1', responseId: 'r1' });
    expect(chunk.candidates[0].content.parts).not.toHaveLength(0);
  }
  expect(chunks.filter((chunk) => chunk.usageMetadata !== undefined)).toHaveLength(1);
  expect(chunks.at(-1)).toMatchObject({
    candidates: [{ finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 10,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      toolUsePromptTokenCount: 1,
      totalTokenCount: 18,
    },
  });
});

test('sound and pictures are counted apart where the upstream tells them', () => {
  const usage = { ...USAGE, media: { audio: 0, image: 3 }, answerMedia: { audio: 5, image: 0 } };
  const events: CanonicalEvent[] = WHOLE_ANSWER.map((event) =>
    event.kind === 'usage' ? { kind: 'usage', usage } : event,
  );
  const usageMetadata = {
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 7 },
      { modality: 'IMAGE', tokenCount: 3 },
    ],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
  };
  expect(chunksOf(events).at(-1)).toMatchObject({ usageMetadata });
  expect(writeReply(fold(events), CONTEXT, SHOWN)).toMatchObject({ usageMetadata });
});

test('thoughts the client did not ask for are hidden, their signature is not', () => {
  const events = [START, ...thinking(0, 'secret', SIGNATURE), ...text(1, ['x']), ...finish('stop')];
  const hidden = { showThoughts: false };
  expect(stream(events, hidden)).not.toContain('secret');
  expect(chunksOf(events, hidden)[0].candidates[0].content.parts).toEqual([
    { text: '', thought: true, thoughtSignature: expect.any(String) },
  ]);
  const body = writeReply(fold(events), CONTEXT, hidden);
  expect(JSON.stringify(body)).not.toContain('secret');
  expect(JSON.stringify(body)).toContain('thoughtSignature');
});

test('a signature is valid base64 for SDKs that decode the field', () => {
  const events = [START, ...thinking(0, 'hm', SIGNATURE), ...finish('stop')];
  const signature = chunksOf(events)[1].candidates[0].content.parts[0].thoughtSignature;
  expect(Buffer.from(signature, 'base64').toString('base64')).toBe(signature);
  expect(Buffer.from(signature, 'base64').toString()).toBe('gw1:beta:thinking:U0lH');
});

test('a signature that stood on the part after the thinking is put back there', () => {
  const borrowed: Signature = { value: 'U0lH', on: 'tool-call' };
  const signedCall = { functionCall: expect.anything(), thoughtSignature: expect.any(String) };
  for (const own of [undefined, borrowed]) {
    const events = [
      START,
      ...thinking(0, 'hm', borrowed),
      ...call(1, [], own),
      ...call(2, []),
      ...finish('tool-calls'),
    ];
    const parts = chunksOf(events).map((chunk) => chunk.candidates[0].content.parts[0]);
    expect(parts).toEqual([
      { text: 'hm', thought: true },
      signedCall,
      { functionCall: { id: 'call_2', name: 'w', args: {} } },
      { text: '' },
    ]);
  }
});

test('P026 a signature no later part takes stands on the closing empty text', () => {
  const events = [START, ...thinking(0, 'hm', { value: 'U0lH', on: 'text' }), ...finish('stop')];
  const [, closing] = chunksOf(events);
  expect(closing.candidates[0].content.parts).toEqual([
    { text: '', thoughtSignature: expect.any(String) },
  ]);
});

test.each<[ChoiceEnd['reason'], string | undefined, string]>([
  ['stop', undefined, 'STOP'],
  ['tool-calls', 'STOP', 'STOP'],
  ['stop-sequence', 'stop_sequence', 'STOP'],
  ['max-tokens', 'length', 'MAX_TOKENS'],
  ['safety', 'refusal', 'SAFETY'],
  ['safety', 'RECITATION', 'RECITATION'],
  ['stop', 'RECITATION', 'STOP'],
])('the ending %s (%s) is %s', (reason, rawReason, finishReason) => {
  const [chunk] = chunksOf([START, ...finish(reason, { rawReason })]);
  expect(chunk.candidates).toEqual([
    { content: { role: 'model', parts: [{ text: '' }] }, finishReason, index: 0 },
  ]);
});

test('log-probabilities stand with the finish, in a stream and in a body', () => {
  const yes = { token: 'yes', id: 7, logprob: -0.25 };
  const logprobs = {
    tokens: [{ ...yes, alternatives: [yes, { token: 'no', logprob: -2 }] }],
    average: -0.25,
  };
  const events: CanonicalEvent[] = [
    START,
    ...text(0, ['yes']),
    { kind: 'usage', usage: USAGE },
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop', logprobs }] },
  ];
  const expected = {
    finishReason: 'STOP',
    avgLogprobs: -0.25,
    logprobsResult: {
      chosenCandidates: [{ token: 'yes', tokenId: 7, logProbability: -0.25 }],
      topCandidates: [
        {
          candidates: [
            { token: 'yes', tokenId: 7, logProbability: -0.25 },
            { token: 'no', logProbability: -2 },
          ],
        },
      ],
    },
  };
  expect(writeReply(fold(events), CONTEXT, SHOWN)).toMatchObject({ candidates: [expected] });
  const writer = new EventWriter(CONTEXT, 'array', SHOWN);
  const chunks = JSON.parse(events.map((event) => writer.write(event)).join(''));
  expect(chunks.at(-1)).toMatchObject({ candidates: [expected] });
});

test('a refused prompt has feedback and no candidates', () => {
  const events = [START, ...finish('prompt-blocked', { rawReason: 'SAFETY', message: 'No.' })];
  const expected = { blockReason: 'SAFETY', blockReasonMessage: 'No.' };
  for (const answer of [chunksOf(events)[0], writeReply(fold(events), CONTEXT, SHOWN)]) {
    expect(answer.promptFeedback).toEqual(expected);
    expect(answer).not.toHaveProperty('candidates');
  }
});

test('several answers keep their indices', () => {
  const events: CanonicalEvent[] = [
    START,
    ...text(0, ['a'], 0),
    ...text(1, ['b'], 1),
    { kind: 'finish', choices: [0, 1].map((choice) => ({ choice, reason: 'stop' as const })) },
  ];
  const [first, second, closing] = chunksOf(events);
  expect(first.candidates[0].index).toBe(0);
  expect(second.candidates[0].index).toBe(1);
  expect(closing.candidates.map((one: { index: number }) => one.index)).toEqual([0, 1]);
});

test('images, code and its result are whole parts', () => {
  const blocks: Extract<CanonicalEvent, { kind: 'block-start' }>['block'][] = [
    { kind: 'media', mediaType: 'image/png', base64: 'AAAA' },
    { kind: 'code', language: 'python', code: '1' },
    { kind: 'code', language: 'bash', code: 'ls' },
    { kind: 'code-result', outcome: 'timeout', output: '' },
  ];
  const events: CanonicalEvent[] = blocks.flatMap((block, index): CanonicalEvent[] => [
    { kind: 'block-start', index, choice: 0, block },
    { kind: 'block-end', index },
  ]);
  const parts = [
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { executableCode: { language: 'PYTHON', code: '1' } },
    { executableCode: { language: 'LANGUAGE_UNSPECIFIED', code: 'ls' } },
    { codeExecutionResult: { outcome: 'OUTCOME_DEADLINE_EXCEEDED', output: '' } },
  ];
  const all = [START, ...events, ...finish('stop')];
  expect(chunksOf(all).map((chunk) => chunk.candidates[0].content.parts[0])).toEqual([
    ...parts,
    { text: '' },
  ]);
  expect(writeReply(fold(all), CONTEXT, SHOWN)).toMatchObject({
    candidates: [{ content: { role: 'model', parts } }],
  });
});

test('citations count in UTF-8 bytes, inside the whole text of a stream and the part of a body', () => {
  const grounding: CanonicalEvent = {
    kind: 'grounding',
    choice: 0,
    queries: ['q'],
    sources: [{ url: 'u', title: 'T' }],
    citations: [
      { startIndex: 3, endIndex: 6, text: 'für', sources: [0] },
      { startIndex: 7, endIndex: 10, text: 'end', sources: [0] },
    ],
  };
  const events = [
    START,
    ...text(0, ['😀 ', 'für ']),
    ...text(1, ['end']),
    grounding,
    ...finish('stop'),
  ];
  const shared = {
    webSearchQueries: ['q'],
    groundingChunks: [{ web: { uri: 'u', title: 'T' } }],
  };
  expect(chunksOf(events).at(-1).candidates[0].groundingMetadata).toEqual({
    ...shared,
    groundingSupports: [
      { segment: { startIndex: 5, endIndex: 9, text: 'für' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 10, endIndex: 13, text: 'end' }, groundingChunkIndices: [0] },
    ],
  });
  expect(writeReply(fold(events), CONTEXT, SHOWN)).toMatchObject({
    candidates: [
      {
        groundingMetadata: {
          groundingSupports: [
            { segment: { partIndex: 0, startIndex: 5, endIndex: 9 } },
            { segment: { partIndex: 1, startIndex: 0, endIndex: 3 } },
          ],
        },
      },
    ],
  });
});

test('an error ends the stream as an event, and as JSON for readers who take the event for an empty chunk', () => {
  const error = new GatewayError({ kind: 'timeout', source: 'upstream', message: 'Too slow.' });
  const events: CanonicalEvent[] = [START, ...text(0, ['a']), { kind: 'error', error }];
  const json = '{"error":{"code":504,"message":"Too slow.","status":"DEADLINE_EXCEEDED"}}';
  expect(stream(events)).toMatch(
    new RegExp(`\\n\\ndata: ${RegExp.escape(json)}\\n\\n${RegExp.escape(json)}$`),
  );
  const writer = new EventWriter(CONTEXT, 'array', SHOWN);
  const output = events.map((event) => writer.write(event)).join('');
  expect(JSON.parse(output)).toMatchObject([{}, { error: { code: 504 } }]);
});

test('S22 text with line breaks and separators stays inside one frame', () => {
  const nasty = '\r\n\n\u2028\u0000data: x\n\n';
  const chunks = chunksOf([START, ...text(0, [nasty]), ...finish('stop')]);
  expect(chunks).toHaveLength(2);
  expect(chunks[0].candidates[0].content.parts).toEqual([{ text: nasty }]);
});

test('pages that were opened stand beside the search, or without one', () => {
  const pages = [{ url: 'u', outcome: 'read' }] as const;
  const grounding: CanonicalEvent = {
    ...{ kind: 'grounding', choice: 0, queries: [], sources: [], citations: [] },
    pages,
  };
  const urlMetadata = [{ retrievedUrl: 'u', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }];
  const finish: CanonicalEvent = { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] };
  const [candidate] = chunksOf([{ kind: 'start' }, grounding, finish]).at(-1).candidates;
  expect(candidate.urlContextMetadata).toEqual({ urlMetadata });
  expect(candidate.groundingMetadata).toBeUndefined();
});
