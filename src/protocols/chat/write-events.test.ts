import { expect, test } from 'vitest';
import type { BlockOpening, CanonicalEvent } from '../../canonical/event.ts';
import type { Citation } from '../../canonical/grounding.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import {
  type Block,
  CONTEXT,
  chunksOf,
  eventsOf,
  OPTIONS,
  stream,
  TOOL_ANSWER,
  unary,
} from './answers.test-support.ts';
import { ChatWriter } from './write-events.ts';

test('a stream with thoughts, text and parallel calls has exactly this form', async () => {
  await expect(stream(TOOL_ANSWER)).toMatchFileSnapshot('__fixtures__/tool-calls.stream.golden');
});

test('the same answer in one piece has exactly this form', async () => {
  const body = JSON.stringify(unary(TOOL_ANSWER), null, 2);
  await expect(body).toMatchFileSnapshot('__fixtures__/tool-calls.reply.golden');
});

test('V088 a plain text answer', () => {
  expect(unary(eventsOf([[{ kind: 'text', pieces: ['Hi'] }]])).choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi', refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
});

test.each([
  ['max-tokens', 'length'],
  ['safety', 'content_filter'],
  ['prompt-blocked', 'content_filter'],
  ['stop-sequence', 'stop'],
] as const)(
  'V090 an answer without content that ends with %s is a choice with %s',
  (reason, word) => {
    const events = eventsOf([[]], [reason]);
    expect(unary(events).choices[0]).toMatchObject({
      finish_reason: word,
      message: { content: '', refusal: null },
    });
    expect(
      chunksOf(stream(events)).map((chunk) => chunk.choices[0]?.finish_reason ?? null),
    ).toEqual([null, word, null]);
  },
);

test('sound and pictures of the prompt are counted apart where the upstream tells them', () => {
  const usage = { ...NO_USAGE, promptTokens: 300, media: { audio: 32, image: 258 } };
  const answer: CanonicalEvent[] = eventsOf([[{ kind: 'text', pieces: ['Hi'] }]]).map((event) =>
    event.kind === 'usage' ? { kind: 'usage', usage } : event,
  );
  const details = { cached_tokens: 0, audio_tokens: 32, image_tokens: 258 };
  expect(unary(answer).usage.prompt_tokens_details).toEqual(details);
  expect(chunksOf(stream(answer)).at(-1)).toMatchObject({
    usage: { prompt_tokens: 300, prompt_tokens_details: details },
  });
});

test('sound and pictures of the answer are counted apart where the upstream tells them', () => {
  const usage = { ...NO_USAGE, answerTokens: 1300, answerMedia: { audio: 0, image: 1290 } };
  const answer: CanonicalEvent[] = eventsOf([[{ kind: 'text', pieces: ['Hi'] }]]).map((event) =>
    event.kind === 'usage' ? { kind: 'usage', usage } : event,
  );
  const details = { reasoning_tokens: 0, audio_tokens: 0, image_tokens: 1290 };
  expect(unary(answer).usage.completion_tokens_details).toEqual(details);
  expect(chunksOf(stream(answer)).at(-1)).toMatchObject({
    usage: { completion_tokens: 1300, completion_tokens_details: details },
  });
});

test('V092 P085 usage comes once, in a chunk without choices before [DONE], and only when asked for', () => {
  const text = stream(eventsOf([[{ kind: 'text', pieces: ['a', 'b', 'c'] }]]));
  const chunks = chunksOf(text);
  expect(chunks.filter((chunk) => chunk.usage !== undefined)).toHaveLength(1);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 60 } });
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const unasked = stream(eventsOf([[]]), { ...OPTIONS, includeUsage: false });
  expect(unasked).not.toContain('usage');
  expect(chunksOf(unasked).every((chunk) => chunk.choices.length === 1)).toBe(true);
});

test('V094 P087 P088 thoughts are reasoning_content only, in streams and in one piece', () => {
  const events = eventsOf([[{ kind: 'thinking', pieces: ['deep ', 'thought'] }]], ['max-tokens']);
  const deltas = chunksOf(stream(events)).map((chunk) => chunk.choices[0]?.delta);
  expect(deltas.map((delta) => delta?.content ?? '').join('')).toBe('');
  expect(deltas).toContainEqual({ reasoning_content: 'deep ' });
  expect(unary(events).choices[0]?.message).toMatchObject({
    content: '',
    reasoning_content: 'deep thought',
  });
});

test.each(['text', 'thinking'] as const)('an empty piece of %s is no chunk', (kind) => {
  const answer = (pieces: string[]) => chunksOf(stream(eventsOf([[{ kind, pieces }]])));
  expect(answer(['a', '', 'b'])).toHaveLength(answer(['a', 'b']).length);
});

test('V095 P074 chunks have no unknown top-level fields, and constant id, created and model', () => {
  const chunks = chunksOf(stream(TOOL_ANSWER));
  const known = ['id', 'object', 'created', 'model', 'choices', 'usage'];
  for (const chunk of chunks) {
    expect(known).toEqual(expect.arrayContaining(Object.keys(chunk)));
    expect(chunk).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_763_600_000,
      model: 'alpha-3-flash',
    });
  }
});

test.each([
  { json: ['{"city":"Oslo"}'], given: '{"city":"Oslo"}' },
  { json: [], given: '{}' },
])('a call whose arguments are whole is one chunk: $given', ({ json, given }) => {
  const events = eventsOf([[{ kind: 'call', id: 'c', name: 'w', json, lateSignature: 'S' }]]);
  const deltas = chunksOf(stream(events)).flatMap(
    ({ choices }) => choices[0]?.delta.tool_calls ?? [],
  );
  const call = { index: 0, id: 'c', type: 'function', function: { name: 'w', arguments: given } };
  expect(deltas[0]).toMatchObject(call);
  expect(deltas.slice(1).every((delta) => delta.function?.arguments === '')).toBe(true);
});

test('a drawn picture stands in the content as markdown and in images', () => {
  const events = eventsOf([
    [
      { kind: 'text', pieces: ['Here:'] },
      { kind: 'image', base64: 'AAAA' },
    ],
  ]);
  const url = 'data:image/png;base64,AAAA';
  expect(unary(events).choices[0]?.message).toMatchObject({
    content: `Here:\n\n![image](${url})`,
    images: [{ type: 'image_url', index: 0, image_url: { url } }],
  });
});

test('code and what came of it are fenced, a failure is named', () => {
  const whole = (index: number, block: BlockOpening): CanonicalEvent[] => [
    { kind: 'block-start', index, choice: 0, block },
    { kind: 'block-end', index },
  ];
  const events: CanonicalEvent[] = [
    { kind: 'start' },
    ...whole(0, { kind: 'code', language: 'PYTHON', code: 'print(1)' }),
    ...whole(1, { kind: 'code-result', outcome: 'failed', output: '```' }),
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
  ];
  expect(unary(events).choices[0]?.message.content).toBe(
    '```python\nprint(1)\n```\n\nCode execution: failed\n````\n```\n````',
  );
});

test('search grounding becomes url citations whose positions hold in the content', () => {
  const text = 'Ä 😀 cited.';
  const [finish, ...rest] = eventsOf([
    [
      { kind: 'image', base64: 'AA==' },
      { kind: 'text', pieces: ['Ä 😀 ', 'cited.'] },
    ],
  ]).reverse();
  const grounding: CanonicalEvent = {
    kind: 'grounding',
    choice: 0,
    queries: ['q'],
    sources: [
      { url: 'https://a.example/', title: 'A' },
      { url: 'https://b.example/', title: '' },
    ],
    citations: [{ startIndex: 5, endIndex: text.length, text: 'cited.', sources: [0] }],
  };
  const events = [...rest.reverse(), grounding, ...(finish === undefined ? [] : [finish])];
  const message = unary(events).choices[0]?.message;
  expect(message?.annotations).toHaveLength(1);
  const { start_index = 0, end_index = 0 } = message?.annotations?.[0]?.url_citation ?? {};
  expect(message?.content?.slice(start_index, end_index)).toBe('cited.');
  // As OpenAI's search models send them.
  const last = chunksOf(stream(events)).find(({ choices }) => choices[0]?.finish_reason === 'stop');
  expect(last?.choices[0]?.delta).toEqual({ annotations: message?.annotations });
});

test('sources stand for the whole content only where no passage cites any', () => {
  const sources = [
    { url: 'https://a.example/', title: 'A' },
    { url: 'https://b.example/', title: '' },
  ];
  const placesWith = (citations: readonly Citation[]): unknown => {
    const [finish, ...rest] = eventsOf([[{ kind: 'text', pieces: ['Hi you'] }]]).reverse();
    const found: CanonicalEvent = {
      ...{ kind: 'grounding', choice: 0, queries: ['q'], sources, citations },
    };
    const events = [...rest.reverse(), found, ...(finish === undefined ? [] : [finish])];
    return unary(events).choices[0]?.message.annotations?.map(
      ({ url_citation: { url, start_index, end_index } }) => [url, start_index, end_index],
    );
  };
  expect(placesWith([])).toEqual([
    ['https://a.example/', 0, 6],
    ['https://b.example/', 0, 6],
  ]);
  expect(placesWith([{ startIndex: 0, endIndex: 2, text: 'Hi', sources: [0] }])).toEqual([
    ['https://a.example/', 0, 2],
  ]);
});

test('a model name or text with quotes and line ends cannot break out of its frame', () => {
  const model = 'a"b\r\n\r\ndata: x';
  const writer = new ChatWriter({ ...CONTEXT, model }, OPTIONS);
  const text = eventsOf([[{ kind: 'text', pieces: ['\r\n\r\ndata: [DONE]\u2028\ud800'] }]])
    .map((event) => writer.write(event))
    .join('');
  expect(text).not.toContain('\r');
  expect(chunksOf(text).every((chunk) => chunk.model === model)).toBe(true);
  expect(text.split('data: [DONE]\n\n')).toHaveLength(2);
});

test('a choice of which only sources are known has its role all the same', () => {
  const [finish, ...rest] = eventsOf([[{ kind: 'text', pieces: ['a'] }], []]).reverse();
  const sources = [{ url: 'https://a.example/', title: 'A' }];
  const found: CanonicalEvent = {
    ...{ kind: 'grounding', choice: 1, queries: ['q'] },
    ...{ sources, citations: [] },
  };
  const events = [...rest.reverse(), found, ...(finish === undefined ? [] : [finish])];
  const deltas = chunksOf(stream(events)).flatMap(({ choices }) =>
    choices.flatMap(({ index, delta }) => (index === 1 ? [delta] : [])),
  );
  expect(deltas[0]).toMatchObject({ role: 'assistant' });
  expect(deltas[1]).toMatchObject({ annotations: [{ type: 'url_citation' }] });
});

test.each([[['{"c":', '1}']], [[]]])(
  'a signature known at the end of a call comes once, with arguments %j',
  (json) => {
    const call = { kind: 'call', id: 'c1', name: 'w', json } as const;
    const late = eventsOf([[{ ...call, json, lateSignature: 'SIG' }]]);
    const signed = JSON.stringify({ google: { thought_signature: 'gw1:fam:tool-call:SIG' } });
    expect(stream(late).split(signed)).toHaveLength(2);
    const [first] = unary(late).choices[0]?.message.tool_calls ?? [];
    expect(JSON.stringify(first?.extra_content)).toBe(signed);
  },
);

test('the deprecated form shows one call, streamed and in one piece', () => {
  const call = (id: string): Block => ({ kind: 'call', id, name: id, json: ['{"a":1}'] });
  const options = { ...OPTIONS, callForm: 'function_call' } as const;
  const events = eventsOf([[call('first'), call('second')]], ['tool-calls']);
  const text = stream(events, options);
  expect(text).not.toContain('second');
  const args = chunksOf(text).map((chunk) => chunk.choices[0]?.delta.function_call?.arguments);
  expect(unary(events, options).choices[0]?.message.function_call).toEqual({
    name: 'first',
    arguments: args.join(''),
  });
});
