import { expect, test } from 'vitest';
import type { CanonicalEvent, ChoiceEnd, Heard } from '../canonical/event.ts';
import { fold } from '../canonical/fold.ts';
import type { JsonObject } from '../lib/json.ts';
import {
  CONTEXT,
  eventsOf,
  inputOf as routeInput,
} from '../protocols/chat/answers.test-support.ts';
import type { RouteInput, UploadedFile } from '../protocols/protocol.ts';
import { readAudioCall } from './audio.ts';

const WAV = Buffer.concat([Buffer.from('RIFF0000WAVEfmt '), Buffer.alloc(8)]);

function inputOf(body: JsonObject, files: readonly UploadedFile[] = [sound()]): RouteInput {
  return routeInput({ model: 'whisper-1', ...body }, files);
}

function sound(parts: Partial<UploadedFile> = {}): UploadedFile {
  const mediaType = 'application/octet-stream';
  return { field: 'file', fileName: 'a.wav', mediaType, bytes: WAV, ...parts };
}

function answer(body: JsonObject, text: string): JsonObject {
  const reply = fold(eventsOf([[{ kind: 'text', pieces: [text] }]]));
  return readAudioCall(inputOf(body), 'transcribe').writeReply(reply, CONTEXT);
}

function streamOf(events: readonly CanonicalEvent[]): string {
  const call = readAudioCall(inputOf({ stream: 'true' }), 'transcribe');
  const writer = call.createStreamWriter(CONTEXT);
  return events.map((event) => writer.write(event)).join('');
}

test('a recording goes upstream with an instruction behind it', () => {
  const { request } = readAudioCall(inputOf({ language: 'de', prompt: 'Isthmus' }), 'transcribe');
  const [media, text] = request.turns[0]?.parts ?? [];
  expect(media).toMatchObject({ kind: 'media', modality: 'audio', mediaType: 'audio/wav' });
  expect(text).toMatchObject({
    text: expect.stringMatching(/word for word[\s\S]*de[\s\S]*Isthmus/),
  });
});

test('possible languages and words that may occur are told', () => {
  const input = inputOf({ languages: ['de', 'nl', ' '], keywords: 'Landenge', language: '' });
  const text = readAudioCall(input, 'transcribe').request.turns[0]?.parts[1];
  expect(text).toMatchObject({
    text: expect.stringMatching(
      /The language is one of these: de, nl\nThese words may occur, and are spelt like this: Landenge$/,
    ),
  });
  expect(input.receipt.entries).toEqual([]);
});

test('a translation asks for English', () => {
  const { request } = readAudioCall(inputOf({}), 'translate');
  expect(request.turns[0]?.parts[1]).toMatchObject({ text: expect.stringContaining('English') });
});

test.each([
  ['a.mp3', 'audio/mp3'],
  ['a.M4A', 'audio/m4a'],
  ['a.webm', 'audio/webm'],
  ['a.oga', 'audio/ogg'],
  ['a.aif', 'audio/aiff'],
])('the type of %s is told by its ending', (fileName, mediaType) => {
  const file = sound({ fileName, bytes: Buffer.from('no magic bytes here') });
  const { request } = readAudioCall(inputOf({}, [file]), 'transcribe');
  expect(request.turns[0]?.parts[0]).toMatchObject({ mediaType });
});

test('a file no transcription has is noted', () => {
  const input = inputOf({}, [sound(), sound({ field: 'voice' })]);
  readAudioCall(input, 'transcribe');
  expect(input.receipt.entries).toMatchObject([{ action: 'dropped', path: 'voice' }]);
});

test('a recording of 25 MB is the largest there is', () => {
  const bytes = Buffer.alloc(25 * 1024 * 1024);
  expect(() => readAudioCall(inputOf({}, [sound({ bytes })]), 'transcribe')).not.toThrow();
});

test.each(['speech', 'a.wav', 'a.mp3'])('the bytes of %s tell more than its name', (fileName) => {
  const { request } = readAudioCall(inputOf({}, [sound({ fileName })]), 'transcribe');
  expect(request.turns[0]?.parts[0]).toMatchObject({ mediaType: 'audio/wav' });
});

test.each([
  [{}, [], 'file'],
  [{}, [sound({ bytes: Buffer.alloc(0) })], 'file'],
  [{}, [sound(), sound()], 'file'],
  [{}, [sound({ fileName: 'a.txt', bytes: Buffer.from('plain words') })], 'file'],
  [{}, [sound({ fileName: 'a.xyz' })], 'file'],
  [{}, [sound({ bytes: Buffer.alloc(25 * 1024 * 1024 + 1) })], 'file'],
  [{ model: '' }, [sound()], 'model'],
  [{ response_format: 'docx' }, [sound()], 'response_format'],
  [{ response_format: 'srt', stream: 'true' }, [sound()], 'stream'],
  [{ timestamp_granularities: ['word'] }, [sound()], 'timestamp_granularities'],
  [{ temperature: 'warm' }, [sound()], 'temperature'],
])('what cannot be written down is refused by the name of its field: %j', (body, files, field) => {
  expect(() => readAudioCall(inputOf(body, files), 'transcribe')).toThrow(
    expect.objectContaining({ field }),
  );
});

test('a file above 25 MB is too large, not wrong', () => {
  const file = sound({ bytes: Buffer.alloc(25 * 1024 * 1024 + 1) });
  expect(() => readAudioCall(inputOf({}, [file]), 'transcribe')).toThrow(
    expect.objectContaining({ kind: 'too-large' }),
  );
});

test('json and text are the words', () => {
  expect(answer({}, 'Hello.')).toMatchObject({ text: 'Hello.', usage: { total_tokens: 60 } });
  expect(answer({ response_format: 'text' }, 'Hello.')).toEqual({ text: 'Hello.\n' });
});

const TIMED = JSON.stringify({
  language: 'English',
  duration: 3725.5,
  segments: [
    { start: 0, end: 2.4, text: ' Hello <you>\n\nthere' },
    { start: 3723.0005, end: 3725.5, text: 'bye' },
  ],
  words: [{ start: 0, end: 0.4, word: 'Hello' }],
});

test('subtitles have numbered blocks and times', () => {
  expect(answer({ response_format: 'srt' }, TIMED).text).toBe(
    '1\n00:00:00,000 --> 00:00:02,400\nHello <you>\nthere\n\n' +
      '2\n01:02:03,001 --> 01:02:05,500\nbye\n\n',
  );
  expect(answer({ response_format: 'vtt' }, TIMED).text).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:02.400\nHello &lt;you>\nthere\n\n' +
      '01:02:03.001 --> 01:02:05.500\nbye\n\n',
  );
});

test('the verbose form has segments, and words when asked', () => {
  const verbose = answer({ response_format: 'verbose_json' }, TIMED);
  expect(verbose).toMatchObject({
    task: 'transcribe',
    language: 'english',
    duration: 3725.5,
    text: 'Hello <you>\n\nthere bye',
    segments: [{ id: 0, start: 0, end: 2.4 }, { id: 1 }],
    usage: { type: 'duration', seconds: 3726 },
  });
  expect(verbose).not.toHaveProperty('words');
  const body = { response_format: 'verbose_json', timestamp_granularities: ['word'] };
  expect(answer(body, TIMED)).toMatchObject({ words: [{ word: 'Hello', start: 0, end: 0.4 }] });
});

test('the verbose form has the figures that the upstream gives of a segment, neutral ones for the rest', () => {
  const piece = { start: 0, end: 1, text: 'Hi' };
  const given = {
    ...{ seek: 300, tokens: [50364, 2425], temperature: 0.2 },
    ...{ avg_logprob: -0.71, compression_ratio: 2.6, no_speech_prob: 0.93 },
  };
  const segments = [
    { ...piece, ...given, id: 7, speaker: 'A' },
    { ...piece, ...{ avg_logprob: '-1', tokens: 'x' } },
  ];
  const timed = JSON.stringify({ language: 'english', duration: 1, segments });
  const neutral = {
    ...{ seek: 0, tokens: [], temperature: 0 },
    ...{ avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 },
  };
  expect(answer({ response_format: 'verbose_json' }, timed).segments).toEqual([
    { ...piece, ...given, id: 0 },
    { ...piece, ...neutral, id: 1 },
  ]);
});

test('the form that tells who speaks has a speaker for each segment', () => {
  const piece = { start: 0, end: 1.5, text: 'Hi.', speaker: 'Ada' };
  const segments = [
    { ...piece, id: 'seg_a' },
    { start: 1.5, end: 2, text: 'Hello.' },
  ];
  const said = { response_format: 'diarized_json', known_speaker_names: ['Ada'] };
  expect(answer(said, JSON.stringify({ duration: 2, segments }))).toMatchObject({
    ...{ task: 'transcribe', duration: 2, text: 'Hi. Hello.' },
    segments: [
      { ...piece, id: 'seg_a', type: 'transcript.text.segment' },
      { id: 'seg_2', speaker: 'unknown' },
    ],
    usage: { type: 'tokens' },
  });
  expect(() => answer({ ...said, stream: 'true' }, '')).toThrow(/timed formats come whole/);
});

test.each(['known_speaker_names', 'known_speaker_references'])(
  'a form that does not tell who speaks has no use for %s, and the receipt says so',
  (field) => {
    const input = inputOf({ [field]: ['Ada'] });
    readAudioCall(input, 'transcribe');
    expect(input.receipt.entries).toMatchObject([{ action: 'dropped', path: field }]);
  },
);

test('a model that gives no times is an error, not an empty subtitle', () => {
  expect(() => answer({ response_format: 'srt' }, 'just words')).toThrow(/no times/);
});

test.each<[Omit<ChoiceEnd, 'choice'>, RegExp]>([
  [{ reason: 'safety', rawReason: 'RECITATION' }, /held this answer back: RECITATION/],
  [{ reason: 'prompt-blocked', message: 'No songs.' }, /^No songs\.$/],
  [{ reason: 'prompt-blocked' }, /refused/],
  [{ reason: 'max-tokens' }, /split the recording/],
])('P081 what does not reach the end of the recording is an error: %j', (end, message) => {
  const said = eventsOf([[{ kind: 'text', pieces: ['Hel'] }]]).slice(0, -1);
  const events: CanonicalEvent[] = [...said, { kind: 'finish', choices: [{ choice: 0, ...end }] }];
  for (const response_format of ['json', 'text', 'srt', 'verbose_json']) {
    const call = readAudioCall(inputOf({ response_format }), 'transcribe');
    expect(() => call.writeReply(fold(events), CONTEXT)).toThrow(
      expect.objectContaining({ kind: 'upstream-rejected', field: 'file' }),
    );
    expect(() => call.writeReply(fold(events), CONTEXT)).toThrow(message);
  }
  const text = streamOf(events);
  expect(text).toContain('event: transcript.text.delta');
  expect(text).not.toContain('transcript.text.done');
  expect(text).toContain('event: error');
});

test('text forms are text for the client', () => {
  const typeOf = (format: string) =>
    readAudioCall(inputOf({ response_format: format }), 'transcribe').textType;
  expect([typeOf('json'), typeOf('text'), typeOf('vtt')]).toEqual([
    undefined,
    'text/plain; charset=utf-8',
    'text/vtt; charset=utf-8',
  ]);
});

test('a stream gives the words as they come, then all of them', () => {
  const text = streamOf(eventsOf([[{ kind: 'text', pieces: ['Hel', 'lo'] }]]));
  expect(text.split('\n\n').map((frame) => frame.split('\n')[0])).toEqual([
    'event: transcript.text.delta',
    'event: transcript.text.delta',
    'event: transcript.text.done',
    '',
  ]);
  expect(text).toContain('"text":"Hello"');
});

test('what the upstream heard is told: the languages, and the seconds where it counts these', () => {
  const heardIn = (heard: Heard) =>
    eventsOf([[{ kind: 'text', pieces: ['Hoi'] }]]).map((event) =>
      event.kind === 'finish'
        ? { ...event, choices: event.choices.map((end) => ({ ...end, heard })) }
        : event,
    );
  const reply = fold(heardIn({ seconds: 3, languages: ['nl'] }));
  expect(readAudioCall(inputOf({}), 'transcribe').writeReply(reply, CONTEXT)).toEqual({
    text: 'Hoi',
    languages: [{ code: 'nl' }],
    usage: { type: 'duration', seconds: 3 },
  });
  expect(streamOf(heardIn({ languages: ['nl'] }))).toContain('"languages":[{"code":"nl"}]');
});
