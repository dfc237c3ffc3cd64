import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { openingText } from '../../canonical/text-forms.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { DONE } from '../../wire/chat.ts';
import { createChatProtocol } from './index.ts';

const CONTEXT = { model: 'm', createdAt: 1, createId: (prefix: string) => `${prefix}new` };

function relayOf(body: JsonObject) {
  const route = createChatProtocol().routes.find(({ path }) => path === '/v1/chat/completions');
  if (route?.operation !== 'generate') throw new Error('no route');
  const input = { pathModel: '', query: new URLSearchParams(), headers: {} };
  const receipt = createReceipt();
  const messages = [{ role: 'user', content: 'hello there' }];
  const call = route.readCall({ ...input, receipt, body: { model: 'm', messages, ...body } });
  if (call.relay === undefined) throw new Error('no relay');
  return { call, relay: call.relay, noted: receipt.entries };
}

const write = (body: JsonObject, frame: JsonObject): string =>
  relayOf(body).relay.createStreamWriter(CONTEXT).write(frame, JSON.stringify(frame));

test('the body is the client’s own, and what has no words here is lost only without a relay', () => {
  const { relay, noted } = relayOf({ my_field: 1, n: 2 });
  expect(relay).toMatchObject({ wire: 'chat', choices: 2, body: { my_field: 1, n: 2 } });
  expect(relay.openingText()).toBe('\nhello there');
  expect(relay.reading?.().losses).toMatchObject([{ path: 'my_field', action: 'dropped' }]);
  expect(noted).toEqual([]);
});

test.each<[string, JsonObject, string]>([
  ['audio', { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } }, 'Audio'],
  [
    'a file by its id',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    'file_id',
  ],
  ['a field of the wrong type', { temperature: 'warm' }, 'temperature must be'],
])('a body is refused only where it is translated: %s', (_name, fields, words) => {
  const { call, relay } = relayOf(fields);
  expect(relay.body).toMatchObject(fields);
  expect(() => call.request).toThrow(words);
  expect(() => relay.reading?.().losses).toThrow(words);
});

test('an empty piece beside the message of a whole answer is left out', () => {
  const message = { role: 'assistant', content: 'Hello' };
  const delta = { role: 'assistant', content: '' };
  const answer = { choices: [{ index: 0, message, delta, finish_reason: 'stop' }] };
  const { choices } = relayOf({}).relay.writeReply([answer], CONTEXT);
  expect(choices).toEqual([{ index: 0, message, finish_reason: 'stop' }]);
});

test('a deprecated call with nothing in it and an end without a word are left out of a whole answer', () => {
  const message = { role: 'assistant', content: 'Hello', tool_calls: null };
  const function_call = { name: '', arguments: '' };
  const answer = {
    choices: [{ index: 0, message: { ...message, function_call }, finish_reason: '' }],
  };
  const { choices } = relayOf({}).relay.writeReply([answer], CONTEXT);
  expect(choices).toEqual([{ index: 0, message, finish_reason: 'stop' }]);
  const called = { ...message, function_call: { name: 'f', arguments: '{}' } };
  const kept = { choices: [{ index: 0, message: called, finish_reason: 'function_call' }] };
  expect(relayOf({}).relay.writeReply([kept], CONTEXT)).toMatchObject(kept);
});

test('a choice that was filtered and has no message gets one that says nothing', () => {
  const filtered = { index: 0, finish_reason: 'content_filter', logprobs: null };
  const { choices } = relayOf({}).relay.writeReply([{ choices: [filtered] }], CONTEXT);
  expect(choices).toEqual([
    { ...filtered, message: { role: 'assistant', content: null, refusal: null } },
  ]);
});

test('fields without words here go along', () => {
  const fields = {
    prediction: { type: 'content', content: 'a' },
    store: true,
    metadata: { a: 'b' },
    web_search_options: { search_context_size: 'low' },
  };
  const { relay } = relayOf(fields);
  expect(relay.body).toMatchObject(fields);
  expect(relay.reading?.().losses.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['prediction', 'store']),
  );
});

test('a head that is no head is told by the strict reader', () => {
  expect(() => relayOf({ model: '' })).toThrow('model is empty');
  expect(() => relayOf({ stream: 'yes' })).toThrow('stream must be true or false');
  expect(relayOf({ model: 'models/m', stream: null }).call).toMatchObject({
    model: 'm',
    stream: false,
  });
});

test('a session begins with the leading instructions and the first long text', () => {
  const text = (text: string): JsonObject => ({ type: 'text', text });
  const messages = [
    { role: 'system', content: 'Be' },
    { role: 'developer', content: [text('kind.')] },
    { role: 'user', content: 'Hi' },
    { role: 'system', content: 'later' },
    { role: 'user', content: [text('short'), text('A long question')] },
  ];
  const { call, relay } = relayOf({ messages });
  expect(relay.openingText()).toBe('Be\nkind.\nA long question');
  expect(relay.openingText()).toBe(openingText(call.request));
});

test('chunks go out as they came; the usage alone only to who asked for it', () => {
  const text = {
    choices: [{ index: 0, delta: { role: 'assistant', content: 'é' }, finish_reason: null }],
  };
  expect(write({}, text)).toBe(`data: ${JSON.stringify(text)}\n\n`);
  const usage = { total_tokens: 3 };
  const empty = { index: 0, delta: {} };
  for (const alone of [
    { choices: [], usage },
    { choices: [empty], usage },
  ]) {
    expect(write({}, alone)).toBe('');
    expect(write({ stream_options: { include_usage: true } }, alone)).toContain('"total_tokens":3');
  }
  const end = { choices: [{ ...empty, finish_reason: 'stop' }], usage };
  expect(write({}, end)).toContain('"stop"');
});

test.each([false, true])(
  'P085 usage that a server tells in every chunk comes once, at the end, alone to who asked (alone=%s)',
  (isAlone) => {
    const chunk = (content: string, total_tokens: number, more: JsonObject = {}) => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null, ...more }],
      usage: { total_tokens },
    });
    const last = { ...chunk('', 4), choices: [] };
    const chunks = [chunk('a', 1), chunk('b', 2), chunk('', 3, { finish_reason: 'stop' })];
    const sent = (body: JsonObject): JsonObject[] => {
      const writer = relayOf({ stream: true, ...body }).relay.createStreamWriter(CONTEXT);
      const frames = isAlone ? [...chunks, last] : chunks;
      const text = frames.map((frame) => writer.write(frame, JSON.stringify(frame))).join('');
      return `${text}${writer.end()}`
        .split('\n\n')
        .filter((frame) => frame !== '' && frame !== 'data: [DONE]')
        .map((frame) => JSON.parse(frame.slice(6)));
    };
    const bare = chunks.map(({ usage: _usage, ...frame }) => frame);
    expect(sent({})).toEqual([...bare.slice(0, 2), chunks[2]]);
    const usage = { total_tokens: isAlone ? 4 : 3 };
    for (const asked of [{ stream_options: { include_usage: true } }, { usage: { include: true } }])
      expect(sent(asked)).toEqual([...bare, { ...last, usage }]);
  },
);

test('a whole message at the end of a stream is a piece that says nothing', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const write = (choice: JsonObject) => {
    const frame = { choices: [{ index: 0, ...choice }] };
    return writer.write(frame, JSON.stringify(frame));
  };
  write({ delta: { role: 'assistant', content: 'a' }, finish_reason: null });
  const last = write({ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' });
  expect(JSON.parse(last.slice(6))).toEqual({
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  });
});

test('a whole message in place of all pieces is a piece that says it', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
  const message = { role: 'assistant', content: 'a', tool_calls: [call] };
  const frame = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const sent = JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6));
  expect(sent.choices[0]).toMatchObject({ delta: message, finish_reason: 'tool_calls' });
  expect(sent.choices[0].message).toBeUndefined();
  expect(sent.choices[0].delta.tool_calls[0].index).toBe(0);
});

test('a chunk that repeats one goes out unread where that one went out as it came', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const frame = { choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] };
  expect(writer.repeat?.('{}')).toBeUndefined();
  writer.write(frame, JSON.stringify(frame));
  expect(writer.repeat?.('{ }')).toBe('data: { }\n\n');
  writer.write({ choices: [], usage: {} }, '');
  expect(writer.repeat?.('{}')).toBeUndefined();
});

test('a stream ends with [DONE], and a broken one with an error alone', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  expect(writer.keepAlive()).toBe(': keep-alive\n\n');
  expect(writer.end()).toBe('data: [DONE]\n\n');
  const error = new GatewayError({ kind: 'timeout', source: 'upstream', message: 'late' });
  expect(writer.error(error)).toMatch(/^data: \{"error":\{"message":"late /);
  expect(writer.error(error)).toMatch(/\}\n\n$/);
});

test('a failure within a stream asks to retry where that may help: no status says it there', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const told = (kind: 'upstream-unavailable' | 'timeout' | 'upstream-rejected') => {
    const error = new GatewayError({ kind, source: 'upstream', message: 'It broke.' });
    return JSON.parse(writer.error(error).slice('data: '.length)).error.message;
  };
  expect(told('upstream-unavailable')).toBe('It broke. Please retry your request.');
  expect(told('timeout')).toBe('It broke. Please retry your request.');
  expect(told('upstream-rejected')).toBe('It broke.');
});

test('calls without a number or an id get one: accumulators give up without', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const send = (...tool_calls: JsonObject[]) => {
    const frame = { choices: [{ index: 0, delta: { tool_calls } }] };
    return JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6)).choices[0].delta
      .tool_calls;
  };
  const named = (name: string) => ({ function: { name, arguments: '{}' } });
  expect(send({ id: 'a', ...named('f') }, named('g'))).toMatchObject([
    { index: 0, id: 'a', type: 'function' },
    { index: 1, id: 'call_new', type: 'function' },
  ]);
  expect(send({ function: { arguments: ' ' } })).toEqual([
    { index: 1, function: { arguments: ' ' } },
  ]);
  expect(send({ id: 'null', function: { name: '', arguments: ' ' } })).toEqual([
    { index: 1, function: { name: '', arguments: ' ' } },
  ]);
  const whole = { choices: [{ message: { tool_calls: [{ id: 'null', ...named('f') }] } }] };
  expect(relayOf({}).relay.writeReply([whole], CONTEXT)).toMatchObject({
    choices: [{ message: { tool_calls: [{ id: 'call_new', type: 'function' }] } }],
  });
});

test('an id and a name that each piece repeats are told once: accumulators add texts up', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const send = (piece: JsonObject) => {
    const frame = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] } }] };
    const sent = JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6));
    return sent.choices[0].delta.tool_calls[0];
  };
  const piece = (args: string) => ({ id: 'a', function: { name: 'f', arguments: args } });
  expect(send(piece('{"a":'))).toMatchObject({ id: 'a', function: { name: 'f' } });
  expect(send(piece('1}'))).toEqual({ index: 0, function: { arguments: '1}' } });
  const unnamed = { index: 1, id: 'b', type: 'function', function: { arguments: '' } };
  expect(send(unnamed)).toEqual(unnamed);
  expect(send({ index: 1, function: { name: 'g' } })).toMatchObject({ function: { name: 'g' } });
});

test('calls that are numbered with gaps, or all alike, have places of their own', () => {
  const placesOf = (...pieces: JsonObject[]) => {
    const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
    return pieces.map((piece) => {
      const frame = { choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [piece] } }] };
      const sent = JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6));
      return sent.choices[0].delta.tool_calls[0].index;
    });
  };
  const begin = (index: number, id: string) => ({
    ...{ index, id, type: 'function' },
    function: { name: 'f', arguments: '' },
  });
  const goOn = (index: number) => ({ index, function: { arguments: '{}' } });
  expect(placesOf(begin(1, 'a'), goOn(1), begin(3, 'b'), goOn(3))).toEqual([0, 0, 1, 1]);
  expect(placesOf(begin(0, 'a'), goOn(0), begin(0, 'b'), goOn(0))).toEqual([0, 0, 1, 1]);
});

test('the arguments of a call are the text of an object in a whole answer, whatever a server gives', () => {
  const sent = (given: JsonValue | undefined): JsonValue | undefined => {
    const called = { name: 'f', ...(given === undefined ? {} : { arguments: given }) };
    const call = { id: 'a', type: 'function', function: called };
    const reply = { choices: [{ message: { role: 'assistant', tool_calls: [call] } }] };
    const { choices } = relayOf({}).relay.writeReply([reply], CONTEXT);
    const [choice] = Array.isArray(choices) ? choices : [];
    return JSON.parse(JSON.stringify(choice)).message.tool_calls[0].function.arguments;
  };
  for (const none of [undefined, null, '', 'null']) expect(sent(none)).toBe('{}');
  expect(sent({ a: 1 })).toBe('{"a":1}');
  expect(sent('{"a": 1}')).toBe('{"a": 1}');
  expect(sent('"{\\"a\\":1}"')).toBe('{"a":1}');
  expect(sent('[1]')).toBe('{"value":[1]}');
  expect(sent([1])).toBe('{"value":[1]}');
  // Cut off at a limit.
  expect(sent('{"a')).toBe('{"a');
});

test('the arguments of a streamed call are text, and an object where none came', () => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const send = (choice: JsonObject) => {
    const frame = { choices: [{ index: 0, ...choice }] };
    return JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6)).choices[0].delta;
  };
  const begin = (id: string, given?: JsonValue) => ({
    ...{ id, type: 'function' },
    function: { name: 'f', ...(given === undefined ? {} : { arguments: given }) },
  });
  const calls = [begin('a'), begin('b', { x: 1 }), begin('c', '')];
  const free = { id: 'd', type: 'custom', custom: { name: 'f', input: '' } };
  expect(send({ delta: { role: 'assistant', tool_calls: [...calls, free] } })).toMatchObject({
    tool_calls: [{ id: 'a' }, { id: 'b', function: { arguments: '{"x":1}' } }, { id: 'c' }, free],
  });
  const end = { delta: {}, finish_reason: 'tool_calls' };
  expect(send(end)).toEqual({
    tool_calls: [
      { index: 0, function: { arguments: '{}' } },
      { index: 2, function: { arguments: '{}' } },
    ],
  });
  expect(send(end)).toEqual({});
});

test.each<[string, readonly string[], readonly string[]]>([
  ['again as a whole', ['{"x"', ':1}', '{"x":1}'], ['{"x"', ':1}', '']],
  ['behind an empty object', ['{}', '{"x"', ':1}'], ['', '{"x"', ':1}']],
  ['with all so far in each piece', ['', '{"x', '{"x":1}', '{"x":1}'], ['', '{"x', '":1}', '']],
  ['once, in pieces that look alike', ['{', '"a":[1', ',1', ',1]}'], ['{', '"a":[1', ',1', ',1]}']],
  ['as another object', ['{"x":1}', '{"x":2}'], ['{"x":1}', '{"x":2}']],
])('arguments go out once that are said %s', (_name, pieces, told) => {
  const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
  const sent = pieces.map((said, at) => {
    const named = at === 0 ? { id: 'a', type: 'function' } : {};
    const call = { index: 0, ...named, function: { arguments: said } };
    const frame = { choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [call] } }] };
    const { choices } = JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6));
    return choices[0].delta.tool_calls[0].function.arguments;
  });
  expect(sent).toEqual(told);
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
  expect(writer.write(end, JSON.stringify(end))).not.toContain('arguments');
});

test('an empty object is what a call says in the end where nothing came behind it', () => {
  const send = (...frames: readonly JsonObject[]) => {
    const writer = relayOf({}).relay.createStreamWriter(CONTEXT);
    const lines = frames.map((choice) => {
      const frame = { choices: [{ index: 0, ...choice }] };
      return JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6));
    });
    return lines.map(({ choices }) =>
      choices[0].delta.tool_calls?.map(({ function: said }: JsonObject) => said),
    );
  };
  const named = { name: 'f', arguments: '{}' };
  const delta = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: named }] };
  expect(send({ delta }, { delta: {}, finish_reason: 'tool_calls' })).toEqual([
    [{ name: 'f', arguments: '' }],
    [{ arguments: '{}' }],
  ]);
  expect(send({ delta, finish_reason: 'tool_calls' })).toEqual([[named]]);
  const piece = (text: string) => ({
    delta: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { arguments: text } }] },
  });
  const end = { delta: {}, finish_reason: 'tool_calls' };
  for (const pieces of [
    ['{', '{}'],
    ['{', '}', '{}'],
    ['{}', '{}'],
    ['{', '}'],
  ]) {
    const told = send(...pieces.map(piece), end).flatMap((calls) => calls ?? []);
    expect(told.map((said) => said?.arguments).join('')).toBe('{}');
  }
});

test('the first piece of a choice names its role: accumulators give up without', () => {
  const writer = relayOf({ n: 2 }).relay.createStreamWriter(CONTEXT);
  const send = (index: number, delta: JsonObject) => {
    const frame = { choices: [{ index, delta }] };
    return JSON.parse(writer.write(frame, JSON.stringify(frame)).slice(6)).choices[0].delta;
  };
  expect(send(0, { content: 'a' })).toEqual({ role: 'assistant', content: 'a' });
  expect(send(1, { role: 'assistant' })).toEqual({ role: 'assistant' });
  expect(send(0, { content: 'b' })).toEqual({ content: 'b' });
  expect(send(1, { content: 'b' })).toEqual({ content: 'b' });
});

test('an empty role, a choice without a number and a chunk without choices are put right: accumulators give up', () => {
  for (const role of ['', null]) {
    const relay = relayOf({}).relay.createStreamWriter(CONTEXT);
    const send = (frame: JsonObject): JsonValue => {
      const written = relay.write(frame, JSON.stringify(frame));
      return JSON.parse(written.slice('data: '.length)).choices;
    };
    const said = { content: 'a', role };
    expect(send({ id: 'a', choices: null })).toEqual([]);
    expect(send({ choices: [{ delta: said }] })).toEqual([
      { index: 0, delta: { ...said, role: 'assistant' } },
    ]);
    // Behind the first one may say nothing, but no empty word.
    expect(send({ choices: [{ index: 0, delta: said }] })).toEqual([
      { index: 0, delta: { ...said, role: role === '' ? 'assistant' : null } },
    ]);
    const end = { delta: {}, finish_reason: 'stop' };
    expect(send({ choices: [end] })).toEqual([{ index: 0, ...end }]);
    expect(relay.end()).toBe('data: [DONE]\n\n');
  }
});

test('lists of parts are the texts that clients of this protocol read', () => {
  const thinking = {
    type: 'thinking',
    thinking: [{ type: 'text', text: 'Two ' }, { text: 'and' }],
  };
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
  const content = [
    thinking,
    { type: 'text', text: 'It is ' },
    { type: 'text', text: '4' },
    picture,
  ];
  const read = {
    ...{ role: 'assistant', reasoning_content: 'Two and', content: 'It is 4' },
    images: [picture],
  };
  const frame = { choices: [{ index: 0, delta: { role: 'assistant', content } }] };
  expect(JSON.parse(write({}, frame).slice(6)).choices[0].delta).toEqual(read);
  const whole = { choices: [{ index: 0, message: { role: 'assistant', content } }] };
  expect(relayOf({}).relay.writeReply([whole], CONTEXT)).toMatchObject({
    choices: [{ message: read }],
  });
  const thought = { choices: [{ index: 0, message: { role: 'assistant', content: [thinking] } }] };
  expect(relayOf({}).relay.writeReply([thought], CONTEXT)).toMatchObject({
    choices: [{ message: { reasoning_content: 'Two and', content: null } }],
  });
  const silent = { choices: [{ index: 0, delta: { role: 'assistant', content: [thinking] } }] };
  expect(JSON.parse(write({}, silent).slice(6)).choices[0].delta).toEqual({
    ...{ role: 'assistant', reasoning_content: 'Two and' },
  });
});

test('thoughts are also called what most clients call them, where the upstream does not', () => {
  const streamed = (delta: JsonObject) =>
    JSON.parse(write({}, { choices: [{ index: 0, delta }] }).slice(6)).choices[0].delta;
  const own = { role: 'assistant', content: '', reasoning: 'Hm.' };
  const both = { ...own, reasoning_content: 'Hm.' };
  expect(streamed(own)).toEqual(both);
  expect(streamed({ ...own, reasoning_content: null })).toEqual(both);
  const whole = { choices: [{ index: 0, message: own, finish_reason: 'stop' }] };
  expect(relayOf({}).relay.writeReply([whole], CONTEXT)).toMatchObject({
    choices: [{ message: both }],
  });
  for (const said of [
    { ...own, reasoning_content: 'Other.' },
    { ...own, reasoning: '' },
  ]) {
    expect(streamed(said)).toEqual(said);
  }
});

test('an answer that stopped to call functions says so, except where the client demanded the one', () => {
  const forced = { tool_choice: { type: 'function', function: { name: 'f' } } };
  const calls = [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }];
  const streamed = (body: JsonObject, ...choices: JsonObject[]) => {
    const writer = relayOf(body).relay.createStreamWriter(CONTEXT);
    const frames = choices.map((choice) => ({ choices: [choice] }));
    const sent = frames.map((frame) => writer.write(frame, JSON.stringify(frame)));
    return JSON.parse(sent.at(-1)?.slice(6) ?? '').choices[0].finish_reason;
  };
  const calling = { index: 0, delta: { tool_calls: calls }, finish_reason: null };
  const stop = { index: 0, delta: {}, finish_reason: 'stop' };
  expect(streamed({}, calling, stop)).toBe('tool_calls');
  expect(streamed({}, { ...calling, finish_reason: 'stop' })).toBe('tool_calls');
  for (const finish_reason of ['STOP', 'eos', 'end_turn', 'tool_use']) {
    expect(streamed({}, calling, { ...stop, finish_reason })).toBe('tool_calls');
  }
  expect(streamed({}, calling, { ...stop, finish_reason: 'function_call' })).toBe('function_call');
  expect(streamed({}, calling, { ...stop, index: 1 })).toBe('stop');
  expect(streamed({}, calling, { ...stop, finish_reason: 'length' })).toBe('length');
  expect(streamed(forced, calling, stop)).toBe('stop');
  const whole = (body: JsonObject, message: JsonObject) => {
    const reply = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    return relayOf(body).relay.writeReply([reply], CONTEXT);
  };
  const finished = (finish_reason: string) => ({ choices: [{ finish_reason }] });
  expect(whole({}, { tool_calls: calls })).toMatchObject(finished('tool_calls'));
  expect(whole({}, { content: 'a', tool_calls: [] })).toMatchObject(finished('stop'));
  expect(whole(forced, { tool_calls: calls })).toMatchObject(finished('stop'));
});

test('a call in both forms goes out in the one that clients speak', () => {
  const named = { name: 'f', arguments: '{"x":1}' };
  const call = { index: 0, id: 'a', type: 'function', function: named };
  const role = 'assistant';
  const both = { role, tool_calls: [call], function_call: named };
  const newer = { choices: [{ index: 0, delta: { role, tool_calls: [call] } }] };
  const frame = { choices: [{ index: 0, delta: both }] };
  expect(write({}, frame)).toBe(`data: ${JSON.stringify(newer)}\n\n`);
  const finish_reason = 'tool_calls';
  const whole = { choices: [{ message: both, finish_reason }] };
  expect(relayOf({}).relay.writeReply([whole], CONTEXT)).toEqual({
    choices: [{ message: { role, tool_calls: [call] }, finish_reason }],
  });
});

test('an answer that ended without a reason gets one, and usage stays last', () => {
  const body = { stream_options: { include_usage: true } };
  const writer = relayOf(body).relay.createStreamWriter(CONTEXT);
  const said = { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'A' } }] };
  writer.write({ ...said, usage: { total_tokens: 3 } }, '');
  expect(writer.write(DONE, '[DONE]')).toBe('');
  const end = { index: 0, delta: {}, logprobs: null, finish_reason: 'stop' };
  expect(writer.end().split('\n\n')).toEqual([
    `data: ${JSON.stringify({ id: 'c', choices: [end] })}`,
    `data: ${JSON.stringify({ id: 'c', choices: [], usage: { total_tokens: 3 } })}`,
    'data: [DONE]',
    '',
  ]);
});

test('names of calls are led back to declared ones, in chunks and in whole answers', () => {
  const tools = [{ type: 'function', function: { name: 'read_file' } }];
  const { relay } = relayOf({ tools });
  const answer = (key: 'delta' | 'message', name: string): JsonObject => ({
    choices: [{ [key]: { tool_calls: [{ id: 'a', function: { name, arguments: '{}' } }] } }],
  });
  const rename = () => 'read_file';
  expect([...relay.declaredNames()]).toEqual(['read_file']);
  expect(relay.renameCalls(answer('delta', 'readFile'), rename)).toEqual(
    answer('delta', 'read_file'),
  );
  expect(relay.renameCalls(answer('message', 'x'), rename)).toEqual(answer('message', 'read_file'));
  const known = answer('delta', 'read_file');
  expect(relay.renameCalls(known, rename)).toBe(known);
  const unread = relayOf({ tools: [...tools, { type: 'new' }], n: 'x' });
  expect([...unread.relay.declaredNames()]).toEqual(['read_file']);
});

test('that a chunk has no usage is said to those who asked for usage', () => {
  const delta = { role: 'assistant', content: ',"usage":null' };
  const chunk = { choices: [{ index: 0, delta }], usage: null };
  const text = JSON.stringify(chunk);
  const { usage: _none, ...bare } = chunk;
  const sent = (body: JsonObject, frame: JsonObject): readonly (string | undefined)[] => {
    const writer = relayOf(body).relay.createStreamWriter(CONTEXT);
    return [writer.write(frame, JSON.stringify(frame)), writer.repeat?.(text)];
  };
  const whole = `data: ${text}\n\n`;
  const cut = `data: ${JSON.stringify(bare)}\n\n`;
  expect(sent({ stream: true }, chunk)).toEqual([cut, cut]);
  const asked = { stream: true, stream_options: { include_usage: true } };
  expect(sent(asked, chunk)).toEqual([whole, whole]);
});
