import { expect, test } from 'vitest';
import { contextOf, requestOf, user } from '../../../test/support/canonical.ts';
import type { Heard } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import { OPENAI } from './encode.test-support.ts';
import { encodeMedia, MediaDecoder } from './media.ts';

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

test('how a recording is cut goes to the endpoint', () => {
  const source = { kind: 'base64', base64: 'AAAA' } as const;
  const sound = { kind: 'media', modality: 'audio', mediaType: 'audio/wav', source } as const;
  const nothing = { languages: [], keywords: [], times: 'nothing' } as const;
  const request = requestOf({
    turns: [user(sound)],
    transcription: { ...nothing, task: 'transcribe', chunking: 'auto' },
  });
  const model = OPENAI.findMediaModel('gpt-4o-transcribe-diarize');
  const target = { ...contextOf(), modelId: 'x', usesPlaceholders: false };
  expect(model && encodeMedia(request, model, target)).toMatchObject({ chunking_strategy: 'auto' });
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
