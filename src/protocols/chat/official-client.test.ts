import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { AnswerOptions } from './answer-parts.ts';
import {
  ASK,
  CONTEXT,
  chunksOf,
  eventsOf,
  OPTIONS,
  officialClient,
  stream,
  TOOL_ANSWER,
  unary,
} from './answers.test-support.ts';
import { ChatWriter } from './write-events.ts';

test('P047 P048 P049 the official stream helper reads parallel calls, finish reason and usage', async () => {
  const client = officialClient(stream(TOOL_ANSWER), 'text/event-stream');
  const completion = await client.chat.completions.stream(ASK).finalChatCompletion();
  expect(completion.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: 'Looking: "é😀"\n',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'w', arguments: '{"c":"P"}' } },
        { id: 'call_2', type: 'function', function: { name: 'w', arguments: '{}' } },
      ],
    },
  });
  expect(completion.usage).toEqual(unary(TOOL_ANSWER).usage);
});

test('the official client takes the unary answer as it is', async () => {
  const client = officialClient(JSON.stringify(unary(TOOL_ANSWER)), 'application/json');
  const completion = await client.chat.completions.create(ASK);
  expect(completion.choices[0]?.message.tool_calls).toHaveLength(2);
  expect(completion.usage).toEqual({
    prompt_tokens: 41,
    completion_tokens: 19,
    total_tokens: 60,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 12 },
  });
});

test('P081 an error in mid-stream is an error frame, after which nothing says the answer is complete', async () => {
  const message = 'The answer broke off. Ask again.';
  const error = new GatewayError({ kind: 'upstream-unavailable', source: 'upstream', message });
  const head = TOOL_ANSWER.slice(0, 4);
  const text = stream([...head, { kind: 'error', error }]);
  expect(text).not.toContain('[DONE]');
  const client = officialClient(text, 'text/event-stream');
  await expect(client.chat.completions.stream(ASK).finalChatCompletion()).rejects.toThrow(message);
});

test('P082 the keep-alive is a comment the official client ignores', async () => {
  const writer = new ChatWriter(CONTEXT, OPTIONS);
  const keepAlive = writer.keepAlive();
  expect(keepAlive).toBe(': keep-alive\n\n');
  const frames = TOOL_ANSWER.map((event) => keepAlive + writer.write(event)).join('');
  const client = officialClient(keepAlive + frames, 'text/event-stream');
  const completion = await client.chat.completions.stream(ASK).finalChatCompletion();
  expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
});

test('P075 several choices each get a role, a content and an end of their own', async () => {
  const events = eventsOf(
    [
      [{ kind: 'text', pieces: ['one'] }],
      [{ kind: 'call', id: 'c', name: 'w', json: ['{}'] }],
      [{ kind: 'text', pieces: ['three'] }],
    ],
    ['stop', 'tool-calls', 'max-tokens'],
  );
  const text = stream(events);
  const client = officialClient(text, 'text/event-stream');
  const completion = await client.chat.completions.stream({ ...ASK, n: 3 }).finalChatCompletion();
  expect(completion.choices.map((choice) => choice.message.content)).toEqual(['one', '', 'three']);
  expect(completion.choices.map((choice) => choice.finish_reason)).toEqual([
    'stop',
    'tool_calls',
    'length',
  ]);
  const roles = chunksOf(text).filter((chunk) => chunk.choices[0]?.delta.role === 'assistant');
  expect(roles.map((chunk) => chunk.choices[0]?.index)).toEqual([0, 1, 2]);
  expect(unary(events).choices.map((choice) => choice.finish_reason)).toEqual([
    'stop',
    'tool_calls',
    'length',
  ]);
});

test.each([
  ['its free text', ['{"input":', '"*** Begin"}'], '*** Begin'],
  ['its only text, whatever the model called it', ['{"patch":"*** Begin"}'], '*** Begin'],
  ['its arguments where none is the text', ['{"command":["a"]}'], '{"command":["a"]}'],
  ['no text where it has no arguments', [], ''],
  ['no text where its arguments are empty', ['{}'], ''],
])('a call to a custom tool is written with %s', async (_what, json, input) => {
  const events = eventsOf([[{ kind: 'call', id: 'c', name: 'patch', json }]]);
  const call = { id: 'c', type: 'custom', custom: { name: 'patch', input } };
  expect(unary(events).choices[0]?.message.tool_calls).toEqual([call]);
  const client = officialClient(stream(events), 'text/event-stream');
  const completion = await client.chat.completions.stream(ASK).finalChatCompletion();
  expect(completion.choices[0]?.message.tool_calls).toMatchObject([call]);
});

test.each(['w', 'patch'])(
  'a signature that comes at the end of a call to %s is in the stream as in the unary answer',
  async (name) => {
    const json = ['{"input":"x"}'];
    const events = eventsOf([[{ kind: 'call', id: 'c', name, json, lateSignature: 'LATE' }]]);
    const calls = unary(events).choices[0]?.message.tool_calls;
    expect(calls).toMatchObject([
      { extra_content: { google: { thought_signature: expect.stringMatching(/LATE$/) } } },
    ]);
    const client = officialClient(stream(events), 'text/event-stream');
    const completion = await client.chat.completions.stream(ASK).finalChatCompletion();
    expect(completion.choices[0]?.message.tool_calls).toMatchObject(calls ?? []);
  },
);

test('a request with the deprecated functions is answered by function_call', async () => {
  const options: AnswerOptions = { ...OPTIONS, callForm: 'function_call' };
  const events = eventsOf([[{ kind: 'call', id: 'c', name: 'w', json: ['{"a":1}'] }]]);
  const expected = {
    finish_reason: 'function_call',
    message: { function_call: { name: 'w', arguments: '{"a":1}' } },
  };
  expect(unary(events, options).choices[0]).toMatchObject(expected);
  const client = officialClient(stream(events, options), 'text/event-stream');
  const completion = await client.chat.completions.stream(ASK).finalChatCompletion();
  expect(completion.choices[0]).toMatchObject(expected);
});
