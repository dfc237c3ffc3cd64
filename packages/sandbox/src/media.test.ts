import { expect, test } from 'vitest';
import { wavOf } from '../../../test/support/sounds.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { ask, model, simulateBody, testSignatures, text, user } from './sandbox.test-support.ts';
import { writeChunks, writeWhole } from './write-answer.ts';

const DRAWS = 'alpha-3-pro-image';
const config = (generationConfig: JsonObject, words = 'A boat'): JsonObject =>
  ask(words, { generationConfig });
const first = (body: JsonValue, modelId = DRAWS) => simulateBody(body, modelId).candidates[0];

function pixelsOf(base64 = ''): readonly number[] {
  const header = Buffer.from(base64.slice(0, 64), 'base64');
  return [header.readUInt32BE(16), header.readUInt32BE(20)];
}

const drawn = (body: JsonValue) => first(body)?.pictures?.map(({ base64 }) => pixelsOf(base64));

test('an image model draws beside its words, without being asked', () => {
  expect(drawn(ask('A boat'))).toEqual([[1024, 1024]]);
  expect(first(ask('A boat'))?.text).toContain('Drew 1024x1024 px (1:1, 1K).');
});

test('ratio and size come from the settings', () => {
  const imageConfig = { aspectRatio: '16:9', imageSize: '2K' };
  expect(drawn(config({ imageConfig }))).toEqual([[2752, 1536]]);
});

test('the modalities say what the answer holds', () => {
  expect(first(config({ responseModalities: ['IMAGE'] }))).toMatchObject({
    text: '',
    pictures: [{}],
  });
  expect(first(config({ responseModalities: ['TEXT'] }))?.pictures).toEqual([]);
  expect(first(config({ responseMimeType: 'application/json' }))?.pictures).toEqual([]);
  expect(first(ask('A boat'), 'alpha-3-flash')?.pictures).toEqual([]);
});

test('thoughts of an image model are the picture on its way, in stream and whole', () => {
  const sent = config({
    thinkingConfig: { includeThoughts: true },
    imageConfig: { imageSize: '2K' },
  });
  expect(first(ask('A boat'))?.drafts).toEqual([]);
  const { drafts = [], pictures = [] } = first(sent) ?? {};
  expect([...drafts, ...pictures].map(({ base64 }) => pixelsOf(base64))).toEqual([
    [1024, 1024],
    [1024, 1024],
    [2048, 2048],
  ]);
  expect(new Set(drafts.map(({ base64 }) => base64)).size).toBe(2);
  const isDraft = (part: JsonValue): boolean =>
    isJsonObject(part) && part.thought === true && part.inlineData !== undefined;
  const answer = simulateBody(sent, DRAWS);
  const partsOf = (response: JsonObject): JsonValue[] =>
    Array.isArray(response.candidates)
      ? response.candidates.flatMap((one) =>
          isJsonObject(one) && isJsonObject(one.content) && Array.isArray(one.content.parts)
            ? one.content.parts
            : [],
        )
      : [];
  expect(partsOf(writeWhole(answer, testSignatures)).filter(isDraft)).toHaveLength(2);
  expect(writeChunks(answer, testSignatures).flatMap(partsOf).filter(isDraft)).toHaveLength(2);
  const refused = first(
    config({ thinkingConfig: { includeThoughts: true } }, 'UPSTREAM-FINISH SAFETY'),
  );
  expect(refused?.drafts).toEqual([]);
});

test('log-probabilities are given when asked: every word is certain', () => {
  const sent = config({ responseLogprobs: true, logprobs: 2 });
  const text = first(sent, 'alpha-3-flash')?.text ?? '';
  const [whole] = [
    writeWhole(simulateBody(sent, 'alpha-3-flash'), testSignatures).candidates,
  ].flat();
  const result = isJsonObject(whole) ? whole.logprobsResult : undefined;
  const chosen =
    isJsonObject(result) && Array.isArray(result.chosenCandidates) ? result.chosenCandidates : [];
  expect(chosen.map((one) => (isJsonObject(one) ? one.token : '')).join('')).toBe(text);
  expect(whole).toMatchObject({ avgLogprobs: 0 });
  expect(
    JSON.stringify(writeWhole(simulateBody(ask('x'), 'alpha-3-flash'), testSignatures)),
  ).not.toContain('logprobs');
});

test('an ending that is no success has no picture, a limit cuts the words alone', () => {
  for (const reason of ['SAFETY', 'IMAGE_SAFETY', 'NO_IMAGE']) {
    const candidate = first(ask(`UPSTREAM-FINISH ${reason}`));
    expect(candidate?.finishReason).toBe(reason);
    expect(candidate?.pictures ?? []).toEqual([]);
  }
  const limited = first(config({ maxOutputTokens: 1 }));
  expect(limited).toMatchObject({ finishReason: 'MAX_TOKENS', text: 'HELL', pictures: [{}] });
});

test('a picture keeps the shape of the one it is made from, also later in a dialogue', () => {
  const picture = { inlineData: { mimeType: 'image/png', data: pngHeader(1600, 900) } };
  const sent = { contents: [user(picture, text('Add a hat'))] };
  expect(drawn(sent)).toEqual([[1376, 768]]);
  expect(first(sent)?.text).toContain('from a picture');
  const later = {
    contents: [user(text('A boat')), model(text('Here.'), picture), user(text('Now blue'))],
  };
  expect(drawn(later)).toEqual([[1376, 768]]);
  expect(first(later)?.text).toContain('from a picture');
});

test('pictures come signed and counted, in a whole answer and in a stream', () => {
  const answer = simulateBody(config({ imageConfig: { imageSize: '4K' } }), DRAWS);
  const whole = writeWhole(answer, testSignatures);
  const chunks = writeChunks(answer, testSignatures);
  for (const body of [whole, chunks.at(-1) ?? {}]) {
    expect(body.usageMetadata).toMatchObject({
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2000 }],
    });
  }
  const signed = { inlineData: { mimeType: 'image/png' }, thoughtSignature: expect.any(String) };
  expect(partsOf([whole]).filter((part) => part.inlineData !== undefined)).toMatchObject([signed]);
  expect(partsOf(chunks).filter((part) => part.inlineData !== undefined)).toMatchObject([signed]);
  expect(chunks.at(-1)?.candidates).toMatchObject([{ finishReason: 'STOP' }]);
});

const WAV = wavOf({ seconds: 1.5, peak: 0.25 });
const FACTS =
  'A recording of 1.5 seconds, 8000 Hz, one channel, 16 bits a sample; its peak is 25 % of full scale.';
const sound = (bytes: Buffer, mimeType = 'audio/wav') => ({
  inlineData: { mimeType, data: bytes.toString('base64') },
});
const hear = (...parts: JsonObject[]) => ({ contents: [user(text('Transcribe this'), ...parts)] });

test('asked for what is said, the sandbox tells what a recording is', () => {
  expect(first(hear(sound(WAV)), 'alpha-3-flash')?.text).toBe(FACTS);
  expect(first(hear(sound(Buffer.alloc(5), 'audio/mp3')), 'alpha-3-flash')?.text).toBe(
    'A recording: audio/mp3 5 bytes.',
  );
});

const TIMED = { start: { type: 'number' }, end: { type: 'number' }, text: { type: 'string' } };
const SEGMENTS_SCHEMA = {
  type: 'object',
  properties: {
    language: { type: 'string' },
    duration: { type: 'number' },
    segments: { type: 'array', items: { type: 'object', properties: TIMED } },
  },
  required: ['language', 'duration', 'segments'],
};

test('a schema of segments is filled with the true times of each recording', () => {
  const generationConfig = {
    responseMimeType: 'application/json',
    responseJsonSchema: SEGMENTS_SCHEMA,
  };
  const body = { ...hear(sound(WAV), sound(wavOf({ seconds: 1, peak: 0 }))), generationConfig };
  const answer: unknown = JSON.parse(first(body, 'alpha-3-flash')?.text ?? '');
  expect(answer).toMatchObject({
    language: 'English',
    duration: 2.5,
    segments: [
      { start: 0, end: 1.5, text: FACTS },
      { start: 1.5, end: 2.5, text: expect.stringContaining('it is silent') },
    ],
  });
});

function partsOf(bodies: readonly JsonObject[]): readonly JsonObject[] {
  return bodies.flatMap(({ candidates }) => {
    const [candidate] = Array.isArray(candidates) ? candidates : [];
    const content = isJsonObject(candidate) ? candidate.content : undefined;
    const parts = isJsonObject(content) ? content.parts : undefined;
    return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
  });
}

function pngHeader(width: number, height: number): string {
  const header = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return header.toString('base64');
}
