import { expect, test } from 'vitest';
import { contextOf, requestOf, user } from '../../../test/support/canonical.ts';
import type { Heard } from '../../canonical/event.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { OPENAI } from './encode.test-support.ts';
import { encodeMedia, MediaDecoder, mediaRequest } from './media.ts';
import type { MediaModel } from './profiles.ts';

const PNG = 'iVBORw0KGgo=';
const CONTEXT = {
  signatureFamily: 'chat',
  body: { endpoint: 'images/generations' },
  createId: (prefix: string) => prefix,
};

function decode(frame: JsonObject, showsDrafts = false) {
  const decoder = new MediaDecoder({ ...CONTEXT, showsDrafts }, () => 0);
  const events = [...decoder.push(frame), ...decoder.end()];
  return events.flatMap((event) => {
    if (event.kind === 'error') return `${event.error.failure?.kind}`;
    return event.kind === 'block-start' && event.block.kind === 'media' ? event.block.base64 : [];
  });
}

test.each([
  ['base64', { b64_json: PNG }],
  ['base64 in lines', { b64_json: 'iVBORw\r\n0KGgo=' }],
  ['a data URI as an address', { url: `data:image/png;base64,${PNG}` }],
  ['a data URI in place of base64', { b64_json: `data:image/png;base64,${PNG}` }],
])('a picture comes as %s', (_form, picture) => {
  expect(decode({ data: [picture] })).toEqual([PNG]);
});

test.each(['@@@@', '<html>', 'data:image/png;base64,@@'])(
  'what should be a picture and is %s is none, and another try may give one',
  (b64_json) => {
    expect(decode({ data: [{ b64_json }] })).toEqual(['unusable-answer']);
    expect(decode({ type: 'image_generation.completed', b64_json })).toEqual(['unusable-answer']);
    expect(decode({ type: 'image_generation.partial_image', b64_json }, true)).toEqual(['path']);
  },
);

test('an answer that never came, breaks off or tells of a fault is none', () => {
  const faultsOf = (...frames: readonly JsonObject[]) => {
    const body = { endpoint: 'audio/transcriptions' };
    const decoder = new MediaDecoder({ ...CONTEXT, body }, () => 0);
    const events = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
    return events.flatMap((event) => (event.kind === 'error' ? event.error.failure?.kind : []));
  };
  const delta = { type: 'transcript.text.delta', delta: 'Ho' };
  expect(faultsOf()).toEqual(['path']);
  expect(faultsOf(delta)).toEqual(['path']);
  expect(faultsOf({ type: 'error', error: { type: 'server_error', message: 'x' } })).toEqual([
    'path',
  ]);
  expect(faultsOf(delta, { error: { code: 'rate_limit_exceeded', message: 'x' } }, delta)).toEqual([
    'rate-limited',
  ]);
  expect(faultsOf(delta, { type: 'transcript.text.done', text: 'Hoi' })).toEqual([]);
});

test.each<[string, JsonObject]>([
  ['a whole answer', { data: [{ b64_json: PNG, revised_prompt: 'A red boat at dawn' }] }],
  [
    'a stream',
    {
      type: 'image_generation.completed',
      ...{ b64_json: PNG, revised_prompt: 'A red boat at dawn' },
    },
  ],
])('a picture of %s keeps the words it was drawn from', (_form, frame) => {
  const decoder = new MediaDecoder(CONTEXT, () => 0);
  expect(decoder.push(frame)).toContainEqual(
    expect.objectContaining({
      kind: 'block-start',
      block: expect.objectContaining({ base64: PNG, prompt: 'A red boat at dawn' }),
    }),
  );
});

test.each<[JsonObject, Heard | undefined]>([
  [{ usage: { type: 'duration', seconds: 3 } }, { seconds: 3 }],
  [{ usage: { input_tokens: 3 }, languages: [{ code: 'nl' }] }, { languages: ['nl'] }],
  [{}, undefined],
])('what was heard is part of the end: %j', (said, heard) => {
  const body = { endpoint: 'audio/transcriptions' };
  const decoder = new MediaDecoder({ ...CONTEXT, body }, () => 0);
  decoder.push({ text: 'Hoi', ...said });
  expect(decoder.end()).toContainEqual({
    kind: 'finish',
    choices: [expect.objectContaining({ reason: 'stop', heard })],
  });
});

test('a form is parted by a boundary that every server reads', () => {
  const body = { endpoint: 'audio/transcriptions', file: 'data:audio/wav;base64,AAAA' };
  const access = { accountId: 'a', credential: 'k', credentialKind: 'api-key' } as const;
  const { signal } = new AbortController();
  const sent = mediaRequest(OPENAI, { modelId: 'whisper-1', body, stream: false, access, signal });
  // RFC 2046, 5.1.1
  expect(sent?.headers['content-type']).toMatch(/boundary=[\w-]{1,70}$/);
});

test('how a recording is cut goes to the endpoint', () => {
  const nothing = { languages: [], keywords: [], times: 'nothing' } as const;
  const request = requestOf({
    turns: [user(sound)],
    transcription: { ...nothing, task: 'transcribe', chunking: 'auto' },
  });
  const model = OPENAI.findMediaModel('gpt-4o-transcribe-diarize');
  const target = { ...contextOf(), modelId: 'x', usesPlaceholders: false };
  expect(model && encodeMedia(request, model, target)).toMatchObject({ chunking_strategy: 'auto' });
});

test('who may speak goes to models that tell speakers apart, and others refuse to', () => {
  const speakers = { names: ['Ada'], heard: ['data:audio/wav;base64,AAAA'] };
  const hints = { languages: [], keywords: [], speakers } as const;
  const request = requestOf({
    turns: [user(sound)],
    transcription: { ...hints, task: 'transcribe', times: 'speakers' },
  });
  const encoded = (name: string) => {
    const model = OPENAI.findMediaModel(name);
    const target = { ...contextOf(), modelId: name, usesPlaceholders: false };
    return model && encodeMedia(request, model, target);
  };
  expect(encoded('gpt-4o-transcribe-diarize')).toMatchObject({
    response_format: 'diarized_json',
    known_speaker_names: ['Ada'],
    known_speaker_references: speakers.heard,
  });
  for (const name of ['gpt-4o-transcribe', 'whisper-1']) {
    expect(() => encoded(name)).toThrow('does not tell speakers apart');
  }
});

test.each(['nova', { id: 'voice_1' }])(
  'a voice goes to the endpoint as it was named: %j',
  (voice) => {
    const request = requestOf({
      turns: [user({ kind: 'text', text: 'Good day' })],
      spoken: { voice, format: 'mp3' },
    });
    const model = OPENAI.findMediaModel('gpt-4o-mini-tts');
    const target = { ...contextOf(), modelId: 'x', usesPlaceholders: false };
    expect(model && encodeMedia(request, model, target)).toMatchObject({ voice });
  },
);
const source = { kind: 'base64', base64: 'AAAA' } as const;
const sound = { kind: 'media', modality: 'audio', mediaType: 'audio/wav', source } as const;
const picture = { kind: 'media', modality: 'image', mediaType: 'image/png', source } as const;
const IMAGES: Extract<MediaModel, { kind: 'images' }>['traits'] = {
  ...{ names: [], sizes: ['1024x1024', '1536x1024'], qualities: ['low', 'high'], details: [] },
  ...{ takesFormat: true, edits: true, streams: true },
};
const SOUNDS: Extract<MediaModel, { kind: 'transcriptions' }>['traits'] = {
  ...{ names: [], tells: ['segments', 'words', 'speakers'], translates: true, streams: false },
  ...{ takesLists: false, takesChunking: false },
};
const SPEECH: Extract<MediaModel, { kind: 'speech' }>['traits'] = {
  ...{ names: [], format: 'pcm', voice: 'alloy', takesInstructions: false, streams: false },
};

function encoded(model: MediaModel, change: Partial<CanonicalRequest>) {
  const context = contextOf();
  const body = encodeMedia(requestOf(change), model, {
    ...{ ...context, modelId: 'm', usesPlaceholders: false },
  });
  return { body, notes: context.receipt.entries.map(({ action, path }) => `${action} ${path}`) };
}

test.each<[string, Partial<typeof IMAGES>, Partial<CanonicalRequest>, JsonObject, string[]]>([
  [
    'in a size and a quality of its own',
    { sizes: 'none', qualities: [] },
    { image: { aspectRatio: '16:9', quality: 'hd' } },
    {},
    ['dropped size', 'dropped quality'],
  ],
  [
    'in the size and quality nearest to what is asked for',
    {},
    { image: { aspectRatio: '16:9', quality: 'standard' } },
    { size: '1536x1024', quality: 'low' },
    ['approximated size', 'approximated quality'],
  ],
  [
    'in a quality alone, where nothing is said of the size',
    {},
    { image: { size: '2K', quality: 'high' } },
    { quality: 'high' },
    [],
  ],
  [
    'in the very size and quality that are asked for',
    {},
    { image: { aspectRatio: '1:1', pixels: '1024x1024', size: '2K', quality: 'high' } },
    { size: '1024x1024', quality: 'high' },
    [],
  ],
  [
    'in the form of a size that is given beside another one, and as large as that one',
    { sizes: 'any' },
    { image: { aspectRatio: '1:1', pixels: '1024x1536', size: '4K' } },
    { size: '2352x3520' },
    [],
  ],
  ['at once', { streams: false }, { imageDrafts: 2 }, {}, ['dropped partial_images']],
  [
    'whatever else only conversations know',
    {},
    { sampling: { temperature: 1, topK: 3, seed: 4 }, maxOutputTokens: 5 },
    {},
    ['dropped temperature', 'dropped top_k', 'dropped seed', 'dropped max_tokens'],
  ],
])('a model that draws is asked to do so %s', (_how, traits, change, fields, notes) => {
  const model = { kind: 'images', traits: { ...IMAGES, ...traits } } as const;
  const made = encoded(model, { turns: [user('A cat')], ...change });
  const asked = { endpoint: 'images/generations', model: 'm', prompt: 'A cat' };
  expect(made.body).toEqual({ ...asked, response_format: 'b64_json', ...fields });
  expect(made.notes).toEqual(notes);
});

test.each<[string, Partial<typeof SOUNDS>, object, JsonObject, string[]]>([
  [
    'the first language and all words in the prompt',
    {},
    { languages: ['de', 'nl'], keywords: ['Ada', 'Bob'], prompt: 'A call.' },
    { language: 'de', prompt: 'A call.\nAda, Bob' },
    ['approximated languages'],
  ],
  [
    'each in a field of its own',
    { takesLists: true },
    { languages: ['de', 'nl'], keywords: ['Ada'], prompt: 'A call.' },
    { languages: ['de', 'nl'], keywords: ['Ada'], prompt: 'A call.' },
    [],
  ],
  ['one language as such', { takesLists: true }, { languages: ['de'] }, { language: 'de' }, []],
  [
    'no language for a translation',
    {},
    { task: 'translate', languages: ['de'] },
    { endpoint: 'audio/translations' },
    ['dropped language'],
  ],
])('what may be heard is told to a model that writes it down: %s', (...given) => {
  const [, traits, hints, fields, notes] = given;
  const model = { kind: 'transcriptions', traits: { ...SOUNDS, ...traits } } as const;
  const nothing = { languages: [], keywords: [], times: 'nothing', task: 'transcribe' } as const;
  const made = encoded(model, {
    ...{ turns: [user(sound)], transcription: { ...nothing, ...hints } },
    sampling: { temperature: 0 },
  });
  const asked = { endpoint: 'audio/transcriptions', model: 'm', response_format: 'json' };
  const file = 'data:audio/wav;base64,AAAA';
  expect(made.body).toEqual({ ...asked, file, temperature: 0, ...fields });
  expect(made.notes).toEqual(notes);
});

test.each<[MediaModel, Partial<CanonicalRequest>, string]>([
  [{ kind: 'images', traits: IMAGES }, { turns: [user(' ')] }, 'say what to draw'],
  [
    { kind: 'images', traits: { ...IMAGES, edits: false } },
    { turns: [user('Redder', picture)] },
    'draws from words alone',
  ],
  [{ kind: 'images', traits: IMAGES }, { cachedContent: 'c' }, 'cached_content: '],
  [{ kind: 'transcriptions', traits: SOUNDS }, { turns: [user('Hi')] }, 'send one'],
  [{ kind: 'speech', traits: SPEECH }, { turns: [user(' ')] }, 'send the text to speak'],
])('$kind: what such a model cannot do is refused in words', (model, change, why) => {
  expect(() => encoded(model, change)).toThrow(why);
});
