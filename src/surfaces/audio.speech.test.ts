import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../canonical/event.ts';
import { fold } from '../canonical/fold.ts';
import type { JsonObject } from '../lib/json.ts';
import { CONTEXT, inputOf } from '../protocols/chat/answers.test-support.ts';
import { readSpeechCall } from './audio.ts';

const SAMPLES = Buffer.from([1, 2, 3, 4]).toString('base64');
const L16 = 'audio/L16;codec=pcm;rate=16000';

function readCall(body: JsonObject = {}) {
  return readSpeechCall(inputOf({ model: 'tts-1', input: 'Hello', voice: 'nova', ...body }));
}

function answered(mediaType: string, reason: 'stop' | 'max-tokens' | 'safety' = 'stop') {
  const events: CanonicalEvent[] = [
    { kind: 'start' },
    {
      kind: 'block-start',
      index: 0,
      choice: 0,
      block: { kind: 'media', mediaType, base64: SAMPLES },
    },
    { kind: 'block-end', index: 0 },
    { kind: 'finish', choices: [{ choice: 0, reason }] },
  ];
  return events;
}

const reply = (body: JsonObject, mediaType: string) =>
  readCall(body).writeReply(fold(answered(mediaType)), CONTEXT);

test('the text is asked for as sound, in the words of the client', () => {
  const { request, stream, answersBytes } = readCall({ instructions: 'Softly', speed: 1.5 });
  expect({ stream, answersBytes }).toEqual({ stream: false, answersBytes: true });
  expect(request.turns).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }]);
  expect(request).toMatchObject({
    outputModalities: ['audio'],
    spoken: { voice: 'nova', format: 'mp3', speed: 1.5, instructions: 'Softly' },
  });
  expect(readCall({ voice: { id: 'voice_1' } }).request.spoken?.voice).toEqual({ id: 'voice_1' });
});

test.each<[string, JsonObject, string]>([
  ['no text', { input: ' ' }, 'input is required'],
  ['no voice', { voice: null }, 'voice is required'],
  ['a voice that is a number', { voice: 3 }, 'voice must be a string or an object with an id'],
  ['an unknown format', { response_format: 'midi' }, 'response_format must be one of'],
  ['too fast', { speed: 9 }, 'speed must be'],
])('%s is refused', (_name, body, words) => {
  expect(() => readCall(body)).toThrow(words);
});

test('samples are sent as they are for pcm, and in a file of their rate for every other format', () => {
  expect(reply({ response_format: 'pcm' }, L16)).toEqual({
    mediaType: 'audio/pcm',
    base64: SAMPLES,
  });
  const { mediaType, base64 } = reply({}, L16);
  expect(mediaType).toBe('audio/wav');
  const file = Buffer.from(String(base64), 'base64');
  expect(file.toString('latin1', 0, 4)).toBe('RIFF');
  expect(file.readUInt32LE(24)).toBe(16_000);
  expect(file.subarray(44)).toEqual(Buffer.from([1, 2, 3, 4]));
});

test('what is a file already comes as it is', () => {
  expect(reply({}, 'audio/mp3')).toEqual({ mediaType: 'audio/mpeg', base64: SAMPLES });
  expect(reply({ response_format: 'opus' }, 'audio/opus').mediaType).toBe('audio/opus');
});

test('an answer without sound, or with a part of it, is an error', () => {
  const call = readCall();
  const ends = (events: readonly CanonicalEvent[]) => () => call.writeReply(fold(events), CONTEXT);
  const [start, , , finish] = answered(L16);
  expect(ends([start, finish].filter((event) => event !== undefined))).toThrow('without speaking');
  expect(ends(answered(L16, 'max-tokens'))).toThrow('more to say');
  expect(ends(answered(L16, 'safety'))).toThrow('refused to speak');
});

test.each(['whole', 'stream'])('sound in several pieces is one sound (%s)', (form) => {
  const piece = (index: number, ...samples: number[]): CanonicalEvent => {
    const base64 = Buffer.from(samples).toString('base64');
    const block = { kind: 'media', mediaType: L16, base64 } as const;
    return { kind: 'block-start', index, choice: 0, block };
  };
  const events: CanonicalEvent[] = [
    { kind: 'start' },
    ...[piece(0, 1, 2), { kind: 'block-end', index: 0 } as const],
    ...[piece(1, 3, 4), { kind: 'block-end', index: 1 } as const],
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
  ];
  const expected = String(reply({}, L16).base64);
  const call = readCall();
  if (form === 'whole') {
    expect(call.writeReply(fold(events), CONTEXT).base64).toBe(expected);
    return;
  }
  const writer = call.createStreamWriter(CONTEXT);
  const text = events.map((event) => writer.write(event)).join('');
  expect(text.match(/"audio":"[^"]*"/g)).toEqual([`"audio":"${expected}"`]);
});

test('a stream is the sound, and its usage at the end', () => {
  const call = readCall({ stream_format: 'sse', response_format: 'pcm' });
  expect(call.stream).toBe(true);
  const writer = call.createStreamWriter(CONTEXT);
  const text = answered(L16)
    .map((event) => writer.write(event))
    .join('');
  expect(text).toContain(`"type":"speech.audio.delta","audio":"${SAMPLES}"`);
  expect(text).toContain('"type":"speech.audio.done","usage":{"input_tokens":0');
});
