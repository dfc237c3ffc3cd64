import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { fold } from '../canonical/fold.ts';
import type { JsonObject } from '../lib/json.ts';
import {
  type Block,
  CONTEXT,
  chunksOf,
  eventsOf,
  inputOf,
} from '../protocols/chat/answers.test-support.ts';
import { readCompletionCall } from './completions.ts';

const TEXT: Block[] = [
  { kind: 'thinking', pieces: ['hidden'] },
  { kind: 'text', pieces: ['Hel', 'lo é😀'] },
];

function read(body: JsonObject) {
  const input = inputOf({ model: 'm', ...body });
  const call = readCompletionCall(input);
  const requests = call.fanOut?.requests ?? [call.request];
  return { ...call, requests, notes: input.receipt.entries };
}

function unary(body: JsonObject, answers: Block[][]) {
  return read(body).writeReply(fold(eventsOf(answers)), CONTEXT);
}

function stream(body: JsonObject, answers: Block[][]): string {
  const writer = read(body).createStreamWriter(CONTEXT);
  return eventsOf(answers)
    .map((event) => writer.write(event))
    .join('');
}

test('a prompt is one question, without thoughts and with the default limit of the protocol', () => {
  const { requests } = read({ prompt: 'Once' });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Once' }] }],
    maxOutputTokens: 16,
    reasoning: { amount: { kind: 'off', isUnasked: true } },
    choices: 1,
  });
});

test('log-probabilities stand in parallel lists, with the places of their tokens behind the echo', () => {
  const tokens = [
    { token: 'Hel', logprob: -0.1, alternatives: [{ token: 'Bye', logprob: -2 }] },
    { token: 'lo', logprob: 0, alternatives: [] },
  ];
  const events = eventsOf([TEXT]).map((event) =>
    event.kind === 'finish'
      ? { ...event, choices: event.choices.map((end) => ({ ...end, logprobs: { tokens } })) }
      : event,
  );
  const { createStreamWriter, writeReply } = read({ prompt: 'P: ', echo: true, logprobs: 1 });
  const logprobs = {
    tokens: ['Hel', 'lo'],
    token_logprobs: [-0.1, 0],
    top_logprobs: [{ Bye: -2 }, {}],
    text_offset: [3, 6],
  };
  expect(writeReply(fold(events), CONTEXT)).toMatchObject({ choices: [{ logprobs }] });
  const writer = createStreamWriter(CONTEXT);
  const chunks = chunksOf(events.map((event) => writer.write(event)).join(''));
  expect(chunks.at(-1)).toMatchObject({ choices: [{ logprobs, finish_reason: 'stop' }] });
});

test('several prompts are several requests', () => {
  const { requests } = read({ prompt: ['a', 'b'], n: 2 });
  expect(requests.map(({ choices, turns }) => [choices, turns[0]?.parts])).toEqual([
    [2, [{ kind: 'text', text: 'a' }]],
    [2, [{ kind: 'text', text: 'b' }]],
  ]);
});

test.each([
  [{}, 'prompt'],
  [{ prompt: [] }, 'prompt'],
  [{ prompt: '' }, 'prompt'],
  [{ prompt: [1, 2, 3] }, 'prompt[0]'],
  [{ prompt: [[1, 2], [3]] }, 'prompt[0]'],
  [{ prompt: 'x', best_of: 3 }, 'best_of'],
  [{ prompt: 'x', logprobs: 6 }, 'logprobs'],
  [{ prompt: 'x', temperature: 3 }, 'temperature'],
  [{ prompt: 'x', max_tokens: 0 }, 'max_tokens'],
])('what cannot be answered is refused by the name of its field: %j', (body, field) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ field }));
});

test('best_of that equals n asks for nothing more', () => {
  expect(read({ prompt: 'x', n: 2, best_of: 2 }).request.choices).toBe(2);
});

test('a suffix becomes an instruction and is noted', () => {
  const { request, notes } = read({ prompt: 'a', suffix: ' end' });
  expect(request.system[0]?.text).toContain(' end');
  expect(notes).toMatchObject([{ action: 'approximated', path: 'suffix' }]);
});

test('that an echoed prompt has no log-probabilities is noted', () => {
  const { notes } = read({ prompt: 'P', echo: true, logprobs: 1 });
  expect(notes).toMatchObject([{ action: 'approximated', path: 'logprobs' }]);
});

test('the answer is its text; an echo puts the prompt before it', () => {
  expect(unary({ prompt: 'P: ' }, [TEXT])).toMatchObject({
    object: 'text_completion',
    choices: [{ index: 0, text: 'Hello é😀', logprobs: null, finish_reason: 'stop' }],
    usage: { total_tokens: 60 },
  });
  const echoed = unary({ prompt: ['A', 'B'], echo: true }, [TEXT, TEXT]);
  expect(echoed).toMatchObject({ choices: [{ text: 'AHello é😀' }, { text: 'BHello é😀' }] });
});

test.each([
  { prompt: 'P', stream: true },
  { prompt: 'P', stream: true, echo: true },
  { prompt: ['A', 'B'], stream: true, echo: true },
])('the pieces of a stream add up to the unary answer: %j', (body) => {
  const answers = Array.isArray(body.prompt) ? [TEXT, TEXT] : [TEXT];
  const text = stream(body, answers);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const texts = answers.map(() => '');
  const reasons = answers.map((): unknown => null);
  for (const { choices } of chunksOf(text)) {
    for (const choice of choices) {
      texts[choice.index] += 'text' in choice ? String(choice.text) : '';
      reasons[choice.index] = choice.finish_reason;
    }
  }
  expect(unary(body, answers)).toMatchObject({
    choices: texts.map((whole, index) => ({ text: whole, finish_reason: reasons[index] })),
  });
});

test('the official client reads the stream and its usage', async () => {
  const body = { prompt: 'P', stream: true, stream_options: { include_usage: true } };
  const text = stream(body, [TEXT]);
  const client = new OpenAI({
    apiKey: 'k',
    fetch: () =>
      Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } })),
  });
  let whole = '';
  let total: number | undefined;
  const answer = await client.completions.create({ model: 'm', prompt: 'P', stream: true });
  for await (const { choices, usage } of answer) {
    whole += choices[0]?.text ?? '';
    total = usage?.total_tokens ?? total;
  }
  expect({ whole, total }).toEqual({ whole: 'Hello é😀', total: 60 });
});
