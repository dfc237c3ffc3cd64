import { expect, test } from 'vitest';
import { fold } from '../canonical/fold.ts';
import type { JsonObject } from '../lib/json.ts';
import { type Block, CONTEXT, eventsOf, inputOf } from '../protocols/chat/answers.test-support.ts';
import type { GenerateCall, UploadedFile } from '../protocols/protocol.ts';
import { readEditCall, readGenerationCall, refuseVariations } from './images.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64');
const WEBP = Buffer.concat([Buffer.from('RIFF0000WEBPVP8 '), Buffer.alloc(8)]);

function file(field: string, bytes = PNG, mediaType = 'application/octet-stream'): UploadedFile {
  return { field, fileName: 'a.png', mediaType, bytes };
}

function requestsOf(call: GenerateCall) {
  return call.fanOut?.requests ?? [call.request];
}

function draw(body: JsonObject) {
  const input = inputOf({ prompt: 'a cat', ...body });
  const call = readGenerationCall(input);
  return { ...call, requests: requestsOf(call), notes: input.receipt.entries };
}

test('a prompt is a question to a model that draws', () => {
  const { model, requests } = draw({ model: 'gpt-image-1' });
  expect(model).toBe('gpt-image-1');
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'a cat' }] }],
    outputModalities: ['text', 'image'],
  });
});

test('the size and the quality decide how it is drawn', () => {
  const { image } = draw({ size: '1280x720', quality: 'hd' }).request;
  expect(image).toMatchObject({ aspectRatio: '16:9', size: '4K' });
});

test('the words of the official client for "as you like" ask for nothing', () => {
  const { requests, notes } = draw({
    size: 'auto',
    quality: 'auto',
    background: 'auto',
    output_format: 'png',
    moderation: 'low',
  });
  expect(requests[0]?.image).toBeUndefined();
  expect(notes).toEqual([]);
});

test('what else is asked of a picture goes along with the request', () => {
  const fields = {
    style: 'vivid',
    output_format: 'webp',
    background: 'transparent',
    output_compression: 80,
  };
  const { requests, notes } = draw(fields);
  expect(requests[0]?.imageDetails).toEqual({ path: '', fields });
  expect(notes).toEqual([]);
});

test('several images are several requests', () => {
  expect(draw({ n: 4 }).requests).toHaveLength(4);
  expect(readGenerationCall(inputOf({ prompt: 'x', n: 3 })).fanOut?.requests).toHaveLength(3);
});

test.each([
  [{}, 'prompt'],
  [{ prompt: ' ' }, 'prompt'],
  [{ prompt: 'x', n: 11 }, 'n'],
  [{ prompt: 'x', n: 0 }, 'n'],
  [{ prompt: 'x', size: '5:7' }, 'size'],
  [{ prompt: 'x', quality: 'best' }, 'quality'],
  [{ prompt: 'x', imageSize: '8K' }, 'imageSize'],
  [{ prompt: 'x', response_format: 'jpeg' }, 'response_format'],
])('what cannot be drawn is refused by the name of its field: %j', (body, field) => {
  expect(() => readGenerationCall(inputOf(body))).toThrow(expect.objectContaining({ field }));
});

test('an edit sends its pictures before the prompt, their type told by their bytes', () => {
  const files = [file('image'), file('image', WEBP, 'image/png')];
  const requests = requestsOf(readEditCall(inputOf({ prompt: 'add a hat', n: '2' }, files)));
  expect(requests).toHaveLength(2);
  expect(requests[0]?.turns[0]?.parts).toMatchObject([
    { kind: 'media', mediaType: 'image/png' },
    { kind: 'media', mediaType: 'image/webp' },
    { kind: 'text', text: 'add a hat' },
  ]);
});

test('a mask is a picture of its own kind', () => {
  const input = inputOf({ prompt: 'x' }, [file('image'), file('mask')]);
  const parts = readEditCall(input).request.turns[0]?.parts;
  expect(parts).toMatchObject([{ kind: 'media' }, { isMask: true }, { kind: 'text', text: 'x' }]);
  expect(parts?.[0]).not.toHaveProperty('isMask');
  expect(input.receipt.entries).toEqual([]);
});

test('pictures may be named in JSON', () => {
  const url = `data:image/png;base64,${PNG.toString('base64')}`;
  const body = { prompt: 'x', images: [{ image_url: url }], image: PNG.toString('base64') };
  expect(readEditCall(inputOf(body)).request.turns[0]?.parts).toHaveLength(3);
});

test('a stream carries base64, whatever form is asked for', () => {
  const { notes } = draw({ stream: true, response_format: 'url' });
  expect(notes).toMatchObject([{ action: 'dropped', path: 'response_format' }]);
});

test('a file no edit has is noted, and a form may leave its fields empty', () => {
  const empty = { prompt: 'x', n: '', partial_images: '', size: 'auto', response_format: '' };
  const input = inputOf(empty, [file('image'), file('extra')]);
  expect(readEditCall(input).fanOut).toBeUndefined();
  expect(input.receipt.entries).toMatchObject([{ action: 'dropped', path: 'extra' }]);
});

test.each([
  [{ prompt: 'x' }, [], 'image'],
  [{ prompt: 'x', images: [] }, [], 'images'],
  [{}, [file('image')], 'prompt'],
  [{ prompt: 'x' }, [file('image', Buffer.from('%PDF-1.4 not a picture'))], 'image'],
  [{ prompt: 'x' }, [file('image', Buffer.alloc(0))], 'image'],
  [{ prompt: 'x' }, [file('image'), file('mask'), file('mask')], 'mask'],
  [{ prompt: 'x', images: [{ file_id: 'f' }] }, [], 'images[0].file_id'],
  [{ prompt: 'x', image: ['file:///etc/passwd'] }, [], 'image[0]'],
])('an edit that cannot be made is refused by the name of its field: %j', (body, files, field) => {
  expect(() => readEditCall(inputOf(body, files))).toThrow(expect.objectContaining({ field }));
});

test('variations are refused with the way out', () => {
  expect(() => refuseVariations()).toThrow(/images\/edits/);
});

const DRAWN: Block[] = [
  { kind: 'text', pieces: ['Here it is.'] },
  { kind: 'image', base64: 'AAAA' },
];

test('the words that a picture was drawn from are shown beside it', () => {
  const picture = { kind: 'media', mediaType: 'image/png', base64: 'AAAA' } as const;
  const end = { choice: 0, reason: 'stop' } as const;
  const blocks = [{ ...picture, prompt: 'A red boat' }, picture];
  const choice = { end, blocks, grounding: undefined };
  const reply = { ...fold(eventsOf([DRAWN])), choices: [choice] };
  for (const [form, picked] of [
    ['b64_json', { b64_json: 'AAAA' }],
    ['url', { url: 'data:image/png;base64,AAAA' }],
  ] as const) {
    const call = readGenerationCall(inputOf({ prompt: 'x', response_format: form }));
    const { data } = call.writeReply(reply, CONTEXT) as JsonObject;
    expect(data).toEqual([{ ...picked, revised_prompt: 'A red boat' }, picked]);
  }
});

test('the tokens of the answer are told apart where the upstream does so', () => {
  const reply = fold(eventsOf([DRAWN]));
  const output = reply.usage.answerTokens + reply.usage.thoughtTokens;
  const usage = { ...reply.usage, answerMedia: { image: output - 1, audio: 0 } };
  const call = readGenerationCall(inputOf({ prompt: 'x' }));
  expect(call.writeReply({ ...reply, usage }, CONTEXT)).toMatchObject({
    usage: { output_tokens_details: { image_tokens: output - 1, text_tokens: 1 } },
  });
});

test('images come as base64, or as data URIs when asked', () => {
  const reply = fold(eventsOf([DRAWN, DRAWN]));
  const call = (body: JsonObject) => readGenerationCall(inputOf({ prompt: 'x', ...body }));
  expect(call({ size: '1024x1024' }).writeReply(reply, CONTEXT)).toMatchObject({
    created: CONTEXT.createdAt,
    data: [{ b64_json: 'AAAA' }, { b64_json: 'AAAA' }],
    output_format: 'png',
    size: '1024x1024',
    usage: { total_tokens: 60 },
  });
  expect(call({ response_format: 'url' }).writeReply(reply, CONTEXT)).toMatchObject({
    data: [{ url: 'data:image/png;base64,AAAA' }, {}],
  });
});

test.each([
  [{ quality: 'hd', size: 'auto' }, { quality: 'max' }],
  [{ quality: 'standard' }, { quality: 'low' }],
  [
    { quality: 'high', size: '1024x1536' },
    { quality: 'high', size: '1024x1536' },
  ],
  [{ quality: 'auto' }, {}],
])('a whole answer tells of %j what answers have words for', (body, told) => {
  const call = readGenerationCall(inputOf({ prompt: 'x', ...body }));
  const { size, quality } = Object(call.writeReply(fold(eventsOf([DRAWN])), CONTEXT));
  expect({ size, quality }).toEqual({ size: undefined, quality: undefined, ...told });
});

test('a picture that the upstream only gives the address of comes as its address, where that was asked for', () => {
  const links = '![image](https://a.example/1.png)![image](https://a.example/2.png)';
  const said = (text: string) => fold(eventsOf([[{ kind: 'text', pieces: [text] }]]));
  const reply = said(links);
  const call = (body: JsonObject) => readGenerationCall(inputOf({ prompt: 'x', ...body }));
  const inWords = () => call({ response_format: 'url' }).writeReply(said(`See ${links}`), CONTEXT);
  expect(inWords).toThrow('The model answered without an image. It said: See ![image]');
  const answer = call({ response_format: 'url' }).writeReply(reply, CONTEXT);
  expect(answer).toMatchObject({
    data: [{ url: 'https://a.example/1.png' }, { url: 'https://a.example/2.png' }],
  });
  expect(answer).not.toHaveProperty('output_format');
  expect(() => call({ response_format: 'url', n: 2 }).fanOut?.check?.(reply)).not.toThrow();
  expect(() => call({}).writeReply(reply, CONTEXT)).toThrow(
    expect.objectContaining({
      field: 'response_format',
      message: expect.stringContaining('https://a.example/1.png'),
    }),
  );
  const stream = call({ stream: true });
  const writer = stream.createStreamWriter(CONTEXT);
  const frames = eventsOf([[{ kind: 'text', pieces: [links] }]]).map((one) => writer.write(one));
  expect(frames.join('')).toContain('by address alone, https://a.example/1.png');
});

test('an answer without an image says what the model said', () => {
  const call = readGenerationCall(inputOf({ prompt: 'x' }));
  const words = fold(eventsOf([[{ kind: 'text', pieces: ['I cannot draw.'] }]]));
  expect(() => call.writeReply(words, CONTEXT)).toThrow(/I cannot draw\./);
  const refused = fold(eventsOf([[]], ['safety']));
  expect(() => call.writeReply(refused, CONTEXT)).toThrow(
    expect.objectContaining({ reason: 'content-policy' }),
  );
});

test.each([
  [{ rawReason: 'IMAGE_SAFETY', message: 'No faces.' }, /refused to draw this.* No faces\.$/],
  [{ rawReason: 'IMAGE_SAFETY' }, /refused to draw this.*IMAGE_SAFETY/],
])('a refusal to draw says why: %j', (why, told) => {
  const call = readGenerationCall(inputOf({ prompt: 'x' }));
  const choices = [{ choice: 0, reason: 'safety' as const, ...why }];
  const refused = fold([{ kind: 'start' }, { kind: 'finish', choices }]);
  expect(() => call.writeReply(refused, CONTEXT)).toThrow(
    expect.objectContaining({ field: 'prompt', message: expect.stringMatching(told) }),
  );
});

test('a stream ends with one completed event an image, named by what was done', () => {
  const stream = (call: ReturnType<typeof readGenerationCall>): string => {
    const writer = call.createStreamWriter(CONTEXT);
    return eventsOf([DRAWN])
      .map((event) => writer.write(event))
      .join('');
  };
  const drawn = stream(readGenerationCall(inputOf({ prompt: 'x', stream: true })));
  expect(drawn).toMatch(/^event: image_generation\.completed\ndata: \{.*"b64_json":"AAAA"/);
  const edited = stream(readEditCall(inputOf({ prompt: 'x', stream: 'true' }, [file('image')])));
  expect(edited).toMatch(/^event: image_edit\.completed\n/);
});

const DRAFTS: Block[] = [
  { kind: 'draft', base64: 'D0' },
  { kind: 'draft', base64: 'D1' },
  { kind: 'draft', base64: 'D2' },
  ...DRAWN,
];

test.each([
  ['generation', 2, ['D0', 'D1']],
  ['edit', 1, ['D0']],
  ['generation', 3, ['D0', 'D1', 'D2']],
  ['edit', 0, []],
] as const)('a streamed %s shows %d unfinished images at most', (kind, most, shown) => {
  const body = { prompt: 'x', stream: true, partial_images: most };
  const call =
    kind === 'edit'
      ? readEditCall(inputOf(body, [file('image')]))
      : readGenerationCall(inputOf(body));
  expect(call.request.imageDrafts).toBe(most);
  const writer = call.createStreamWriter(CONTEXT);
  const text = eventsOf([DRAFTS])
    .map((event) => writer.write(event))
    .join('');
  const frames = text
    .trim()
    .split('\n\n')
    .map((frame) => JSON.parse(frame.split('\ndata: ')[1] ?? ''));
  const prefix = kind === 'edit' ? 'image_edit' : 'image_generation';
  const common = {
    created_at: CONTEXT.createdAt,
    background: 'auto',
    size: 'auto',
    quality: 'auto',
  };
  expect(frames).toEqual([
    ...shown.map((b64_json, partial_image_index) => ({
      type: `${prefix}.partial_image`,
      b64_json,
      partial_image_index,
      output_format: 'png',
      ...common,
    })),
    expect.objectContaining({ type: `${prefix}.completed`, b64_json: 'AAAA', ...common }),
  ]);
  expect(text.startsWith(`event: ${prefix}.`)).toBe(true);
});

test('unfinished images alone are no answer', () => {
  const call = readGenerationCall(inputOf({ prompt: 'x', stream: true, partial_images: 1 }));
  const events = eventsOf([[{ kind: 'draft', base64: 'D0' }]]);
  expect(() => call.writeReply(fold(events), CONTEXT)).toThrow(/without an image/);
});

test('unfinished images are for streams, and the receipt says so', () => {
  const input = inputOf({ prompt: 'x', partial_images: 2 });
  expect(readGenerationCall(input).request.imageDrafts).toBe(0);
  expect(input.receipt.entries).toMatchObject([{ action: 'dropped', path: 'partial_images' }]);
  for (const partial_images of [4, -1, 1.5, 'two']) {
    expect(() =>
      readGenerationCall(inputOf({ prompt: 'x', stream: true, partial_images })),
    ).toThrow(expect.objectContaining({ field: 'partial_images' }));
  }
  const form = inputOf({ prompt: 'x', stream: 'true', partial_images: '2' }, [file('image')]);
  expect(readEditCall(form).request.imageDrafts).toBe(2);
});
