// The routes that write recordings down and speak texts, of the OpenAI-style protocol (`openai`
// resources/audio/transcriptions.d.ts and speech.d.ts).

import {
  clientError,
  type GatewayError,
  invalidRequest,
  upstreamError,
} from '../canonical/error.ts';
import type { BlockOpening, ChoiceEnd } from '../canonical/event.ts';
import type { Reply, ReplyBlock } from '../canonical/fold.ts';
import { sniffMediaType, spellMediaType } from '../canonical/media.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { MediaPart } from '../canonical/request.ts';
import { SOUND_FORMATS, type SpokenText, type Transcription } from '../canonical/sound.ts';
import type { Usage } from '../canonical/usage.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { itemsOf, objectsOf } from '../lib/read-values.ts';
import {
  ANYTHING,
  BOOLEAN,
  numberIn,
  objectOf,
  STRING,
  type ValueOf,
  wordOf,
} from '../protocols/body-schema.ts';
import {
  check,
  each,
  missingField,
  noteUnread,
  unknownWord,
  unsupported,
  wrongType,
} from '../protocols/chat/schema.ts';
import type { GenerateCall, RouteInput, UploadedFile } from '../protocols/protocol.ts';
import type { StreamWriter } from '../protocols/writers.ts';
import {
  askOnce,
  createPieceWriter,
  readFormFields,
  rejected,
  requireModel,
  type Unfinished,
  unfinishedError,
  writeTokens,
} from './requests.ts';

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
type AudioFormat = (typeof FORMATS)[number];

/** The official client gives text forms as they are, and knows them by their type. */
const TEXT_TYPES: Readonly<Partial<Record<AudioFormat, string>>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

interface AudioSettings extends Pick<Transcription, 'task'> {
  readonly format: AudioFormat;
  readonly hasWords: boolean;
}

const MAX_RECORDING_BYTES = 25 * 1024 * 1024;

const TYPES = new Map([
  ['mp3', 'audio/mp3'],
  ['mpga', 'audio/mp3'],
  ['mpeg', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['wave', 'audio/wav'],
  ['m4a', 'audio/m4a'],
  ['mp4', 'audio/mp4'],
  ['ogg', 'audio/ogg'],
  ['oga', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['aiff', 'audio/aiff'],
  ['aif', 'audio/aiff'],
  ['webm', 'audio/webm'],
]);

const BODY = objectOf(
  {
    ...each(['model', 'prompt'], STRING),
    response_format: wordOf(FORMATS),
    ...each(['language', 'languages', 'keywords', 'timestamp_granularities'], ANYTHING),
    ...each(['chunking_strategy', 'known_speaker_names', 'known_speaker_references'], ANYTHING),
    stream: BOOLEAN,
    temperature: numberIn({ min: 0, max: 1 }),
  },
  ['file', 'user'],
);

type Body = ValueOf<typeof BODY>;

/** @throws GatewayError 400 naming the field, 413 for a file above 25 MB */
export function readAudioCall(
  { body: sent, files = [], receipt }: RouteInput,
  task: Transcription['task'],
): GenerateCall {
  const sound = readSound(files, receipt);
  const { value: body, unknown } = check(readFormFields(sent, BODY), BODY, '');
  const format = body.response_format ?? 'json';
  const isTimed = format !== 'json' && format !== 'text';
  const stream = body.stream ?? false;
  if (stream && isTimed) {
    const text = 'timed formats come whole; ask for json or text, or leave stream out.';
    throw unsupported('stream', text);
  }
  const hasWords = readGranularities(body.timestamp_granularities, format).includes('word');
  const settings: AudioSettings = { task, format, hasWords };
  const model = requireModel(body.model);
  noteUnread(unknown, { path: '', receipt });
  const transcription: Transcription = {
    task,
    languages: [...readTexts(body.language, 'language'), ...readTexts(body.languages, 'languages')],
    keywords: readTexts(body.keywords, 'keywords'),
    prompt: body.prompt || undefined,
    chunking: body.chunking_strategy || undefined,
    times: timesOf(format, hasWords),
    speakers: readSpeakers(body, receipt),
  };
  return {
    protocol: 'chat',
    model,
    stream,
    bodySession: undefined,
    textType: TEXT_TYPES[format],
    request: askOnce([sound, { kind: 'text', text: instructionOf(transcription) }], {
      sampling: { temperature: readNumber(body.temperature) },
      outputFormat: isTimed ? { kind: 'json-schema', schema: schemaOf(format) } : { kind: 'text' },
      transcription,
      clientNames: { messages: 'file', response_schema: 'response_format' },
    }),
    createStreamWriter: () => createTranscriptionWriter(),
    writeReply: (reply) => writeTranscription(reply, settings),
  };
}

function timesOf(format: AudioFormat, hasWords: boolean): Transcription['times'] {
  if (format === 'diarized_json') return 'speakers';
  if (hasWords) return 'words';
  return format === 'json' || format === 'text' ? 'nothing' : 'segments';
}

/** Undefined where nobody is named, or the answer does not tell who speaks. */
function readSpeakers(body: Body, receipt: Receipt): Transcription['speakers'] {
  const names = readTexts(body.known_speaker_names, 'known_speaker_names');
  const heard = readTexts(body.known_speaker_references, 'known_speaker_references');
  if (names.length + heard.length === 0) return undefined;
  if (body.response_format === 'diarized_json') return { names, heard };
  const reason = told`Only diarized_json tells who speaks.`;
  if (names.length > 0) receipt.add('dropped', 'known_speaker_names', reason);
  if (heard.length > 0) receipt.add('dropped', 'known_speaker_references', reason);
  return undefined;
}

function readSound(files: readonly UploadedFile[], receipt: Receipt): MediaPart {
  const [file, another] = files.filter(({ field }) => field === 'file');
  if (file === undefined) throw missingField('file');
  if (another !== undefined) {
    throw invalidRequest('file', 'file may hold one recording only; send each by itself.');
  }
  for (const { field } of files) {
    if (field !== 'file') receipt.add('dropped', field, told`A transcription has no such file.`);
  }
  if (file.bytes.length === 0) throw invalidRequest('file', 'file is empty.');
  if (file.bytes.length > MAX_RECORDING_BYTES) {
    const message = 'file is larger than 25 MB; split the recording.';
    throw clientError('too-large', message, { field: 'file' });
  }
  const base64 = file.bytes.toString('base64');
  const mediaType = soundTypeOf(file, base64);
  return { kind: 'media', modality: 'audio', mediaType, source: { kind: 'base64', base64 } };
}

/**
 * The bytes tell most types, the ending of the name the others; the declared type comes last. A name
 * with an ending that no sound has is refused whatever the bytes are, and so are bytes of a picture or
 * a document whatever the name is.
 */
function soundTypeOf({ fileName, mediaType }: UploadedFile, base64: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  const named = TYPES.get(ending);
  const declared = spellMediaType(mediaType);
  const sniffed = sniffMediaType(base64);
  const isOther = sniffed !== undefined && !/^(?:audio|video)\//.test(sniffed);
  if (!isOther && (named !== undefined || ending === '')) {
    const told = [sniffed, named, declared].find((type) => type?.startsWith('audio/'));
    if (told !== undefined) return told;
  }
  const endings = [...TYPES.keys()].join(', ');
  throw unsupported('file', `this type of file is not supported; send one of ${endings}.`);
}

/** One text or several; a form's empty field says nothing. */
function readTexts(value: JsonValue | undefined, key: string): readonly string[] {
  const texts = Array.isArray(value) ? value : [value ?? ''];
  return texts.flatMap((text, index) => {
    if (typeof text !== 'string') throw wrongType(`${key}[${index}]`, 'a string');
    return text.trim() === '' ? [] : [text.trim()];
  });
}

function readGranularities(value: JsonValue | undefined, format: AudioFormat): readonly string[] {
  if (value === undefined || value === null) return [];
  const words = (Array.isArray(value) ? value : [value]).map(String);
  const unknown = words.find((word) => word !== 'word' && word !== 'segment');
  if (unknown !== undefined) throw unknownWord('timestamp_granularities', ['word', 'segment']);
  if (format === 'verbose_json') return words;
  throw invalidRequest(
    'timestamp_granularities',
    'timestamp_granularities needs response_format to be verbose_json.',
  );
}

function timed(key: 'text' | 'word', others: JsonObject = {}): JsonObject {
  const properties = {
    start: { type: 'number' },
    end: { type: 'number' },
    [key]: { type: 'string' },
    ...others,
  };
  return {
    type: 'array',
    items: { type: 'object', properties, required: Object.keys(properties) },
  };
}

const SPEAKER: JsonObject = {
  type: 'string',
  description: 'A, B and so on in the order they speak first, or the name where it is known.',
};

const DURATION: JsonObject = {
  type: 'number',
  description: 'Length of the recording in seconds.',
};

/** Times in seconds from the beginning of the recording. */
const SEGMENTS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    language: { type: 'string', description: 'Name of the spoken language, in English.' },
    duration: DURATION,
    segments: timed('text'),
    words: timed('word'),
  },
  required: ['language', 'duration', 'segments'],
};

const SPOKEN_SCHEMA: JsonObject = {
  type: 'object',
  properties: { duration: DURATION, segments: timed('text', { speaker: SPEAKER }) },
  required: ['duration', 'segments'],
};

function schemaOf(format: AudioFormat): JsonObject {
  return format === 'diarized_json' ? SPOKEN_SCHEMA : SEGMENTS_SCHEMA;
}

/** The same for models that take words. */
function instructionOf(transcription: Transcription): string {
  const { task, languages, keywords, prompt, times, speakers } = transcription;
  const lines = [
    task === 'translate'
      ? 'Write down what is said in this recording, translated into English.'
      : 'Write down what is said in this recording, word for word, in its own language.',
    times === 'nothing'
      ? 'Answer with these words alone, without comments, names of speakers or times.'
      : 'Divide it into segments of a sentence or a few seconds, with their times in seconds.',
  ];
  if (times === 'words') lines.push('Give the times of every single word too.');
  if (times === 'speakers') lines.push('Begin another segment where another speaker begins.');
  if (speakers !== undefined && speakers.names.length > 0) {
    lines.push(`These speakers may be heard: ${speakers.names.join(', ')}`);
  }
  if (languages.length === 1) lines.push(`The language is: ${languages[0]}`);
  if (languages.length > 1) lines.push(`The language is one of these: ${languages.join(', ')}`);
  if (keywords.length > 0) {
    lines.push(`These words may occur, and are spelt like this: ${keywords.join(', ')}`);
  }
  if (prompt !== undefined) {
    lines.push(`What may help with names and spelling, not part of the recording: ${prompt}`);
  }
  return lines.join('\n');
}

/** @throws GatewayError for an unfinished one, and when the model gave no times for a timed form */
function writeTranscription(reply: Reply, { task, format, hasWords }: AudioSettings): JsonObject {
  const error = unfinishedError(
    reply.choices.map(({ end }) => end),
    UNFINISHED,
  );
  if (error !== undefined) throw error;
  const blocks = reply.choices[0]?.blocks ?? [];
  const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
  switch (format) {
    case 'json':
      return { text, ...writeLanguages(reply.choices[0]?.end), usage: usageOf(reply) };
    case 'text':
      return { text: `${text}\n` };
    case 'srt':
      return { text: writeSrt(readTimedText(text)) };
    case 'vtt':
      return { text: writeVtt(readTimedText(text)) };
    case 'verbose_json':
      return writeVerbose(readTimedText(text), { task, hasWords });
    case 'diarized_json':
      return { task, ...writeSpoken(readTimedText(text)), usage: usageOf(reply) };
    default:
      return format satisfies never;
  }
}

function usageOf({ choices: [choice], usage }: Reply): JsonObject {
  const seconds = choice?.end.heard?.seconds;
  return seconds === undefined ? writeUsage(usage) : { type: 'duration', seconds };
}

/** Format: `openai` resources/audio/transcriptions, `TranscriptionDiarized`. */
function writeSpoken(timed: TimedText): JsonObject {
  return {
    duration: timed.duration,
    text: plainText(timed),
    segments: timed.segments.map(({ start, end, text, said }, at) => ({
      type: 'transcript.text.segment',
      ...{ id: typeof said.id === 'string' ? said.id : `seg_${at + 1}`, start, end, text },
      speaker: typeof said.speaker === 'string' ? said.speaker : 'unknown',
    })),
  };
}

/** Figures of a segment. Those the model does not give are neutral, not invented. */
const NEUTRAL = {
  seek: 0,
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
};

function figuresOf(said: JsonObject): JsonObject {
  const figures = Object.entries(NEUTRAL).map(([name, neutral]) => [
    name,
    readNumber(said[name]) ?? neutral,
  ]);
  return { tokens: [...itemsOf(said.tokens)], ...Object.fromEntries(figures) };
}

function writeVerbose(
  timed: TimedText,
  { task, hasWords }: Pick<AudioSettings, 'task' | 'hasWords'>,
): JsonObject {
  return {
    task,
    language: timed.language,
    duration: timed.duration,
    text: plainText(timed),
    segments: timed.segments.map(({ start, end, text, said }, id) => ({
      ...{ id, start, end, text },
      ...figuresOf(said),
    })),
    ...(hasWords
      ? { words: timed.words.map(({ start, end, text }) => ({ word: text, start, end })) }
      : {}),
    // In seconds begun, the only form this object has for it (`async-openai` reads none without).
    usage: { type: 'duration', seconds: Math.ceil(timed.duration) },
  };
}

function createTranscriptionWriter(): StreamWriter {
  let whole = '';
  return createPieceWriter({
    unfinished: UNFINISHED,
    pieceOf(event) {
      if (event.kind !== 'block-delta' || event.delta.kind !== 'text') return undefined;
      const { text: delta } = event.delta;
      if (delta === '') return undefined;
      whole += delta;
      return { type: 'transcript.text.delta', delta };
    },
    last: (usage, [end]) => [
      {
        type: 'transcript.text.done',
        text: whole,
        ...writeLanguages(end),
        usage: writeUsage(usage),
      },
    ],
  });
}

function writeLanguages(end: ChoiceEnd | undefined): JsonObject {
  const codes = end?.heard?.languages;
  return codes === undefined ? {} : { languages: codes.map((code) => ({ code })) };
}

function writeUsage(usage: Usage): JsonObject {
  const { input_tokens, ...others } = writeTokens(usage);
  const audio = usage.media?.audio;
  const text_tokens = Math.max(0, input_tokens - (audio ?? 0));
  const details =
    audio === undefined ? {} : { input_token_details: { audio_tokens: audio, text_tokens } };
  return { type: 'tokens', input_tokens, ...details, ...others };
}

const UNFINISHED: Unfinished = {
  field: 'file',
  refused: 'The model refused to write this recording down.',
  tooLong: 'there is more to write down than one answer holds; split the recording.',
};

interface TimedText {
  readonly language: string;
  /** Seconds. */
  readonly duration: number;
  readonly segments: readonly TimedPiece[];
  readonly words: readonly TimedPiece[];
}

interface TimedPiece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** All that the model says of it. */
  readonly said: JsonObject;
}

/** @throws GatewayError when the model's answer is not the JSON it was asked for */
function readTimedText(text: string): TimedText {
  const value = tryParse(text);
  if (!isJsonObject(value)) {
    throw upstreamError(
      'upstream-unavailable',
      'The model gave no times with its transcription; ask for json or text, or try again.',
    );
  }
  const segments = readPieces(value.segments, 'text');
  const last = segments.at(-1)?.end ?? 0;
  return {
    language: typeof value.language === 'string' ? value.language.toLowerCase() : 'unknown',
    duration: Math.max(readNumber(value.duration) ?? 0, last),
    segments,
    words: readPieces(value.words, 'word'),
  };
}

function plainText({ segments }: TimedText): string {
  return segments
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .join(' ');
}

/** SubRip: numbered blocks, a comma before the milliseconds. */
function writeSrt({ segments }: TimedText): string {
  return segments
    .map(({ start, end, text }, index) => {
      const times = `${timeOf(start, ',')} --> ${timeOf(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

/** WebVTT (W3C): a header, a point before the milliseconds. */
function writeVtt({ segments }: TimedText): string {
  const cues = segments.map(({ start, end, text }) => {
    const escaped = cueText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `${timeOf(start, '.')} --> ${timeOf(end, '.')}\n${escaped}\n\n`;
  });
  return `WEBVTT\n\n${cues.join('')}`;
}

/** An empty line would end the cue. */
function cueText(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join('\n');
}

function timeOf(seconds: number, point: string): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  const [hours, minutes] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60];
  const rest = Math.floor(total / 1000) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(rest)}${point}${pad(total % 1000, 3)}`;
}

function readPieces(value: JsonValue | undefined, key: 'text' | 'word'): readonly TimedPiece[] {
  return objectsOf(value).flatMap((piece) => {
    const start = readNumber(piece.start);
    const end = readNumber(piece.end);
    const text = piece[key];
    if (start === undefined || end === undefined || typeof text !== 'string') return [];
    return [{ start: Math.max(0, start), end: Math.max(start, end), text, said: piece }];
  });
}

// Speaking a text.

const SPEECH_BODY = objectOf({
  ...each(['model', 'input', 'instructions'], STRING),
  voice: ANYTHING,
  response_format: wordOf(SOUND_FORMATS),
  speed: numberIn({ min: 0.25, max: 4 }),
  stream_format: wordOf(['audio', 'sse']),
});

/** The answer is the sound itself, or events with `stream_format: "sse"`. @throws GatewayError 400 naming the field */
export function readSpeechCall({ body: sent, receipt }: RouteInput): GenerateCall {
  const { value: body, unknown } = check(sent, SPEECH_BODY, '');
  const model = requireModel(body.model);
  const input = body.input ?? '';
  if (input.trim() === '') throw missingField('input');
  noteUnread(unknown, { path: '', receipt });
  const spoken: SpokenText = {
    voice: readVoice(body.voice),
    format: body.response_format ?? 'mp3',
    speed: readNumber(body.speed),
    instructions: body.instructions || undefined,
  };
  return {
    protocol: 'chat',
    model,
    stream: body.stream_format === 'sse',
    bodySession: undefined,
    answersBytes: true,
    request: askOnce([{ kind: 'text', text: input }], {
      outputModalities: ['audio'],
      spoken,
      clientNames: { messages: 'input', system: 'instructions', modalities: 'model' },
    }),
    createStreamWriter: () => createSpeechWriter(spoken),
    writeReply: (reply) => writeSpeech(reply, spoken),
  };
}

function readVoice(voice: JsonValue | undefined): SpokenText['voice'] {
  const name = isJsonObject(voice) ? voice.id : voice;
  if (name === undefined || name === null || name === '') throw missingField('voice');
  if (typeof name !== 'string') throw wrongType('voice', 'a string or an object with an id');
  return isJsonObject(voice) ? { id: name } : name;
}

/** `{mediaType, base64}`. @throws GatewayError for an answer without sound, or with a part of it */
function writeSpeech({ choices }: Reply, { format }: SpokenText): JsonObject {
  const error = unfinishedError(
    choices.map(({ end }) => end),
    UNSPOKEN,
  );
  if (error !== undefined) throw error;
  const sound = joined(soundsIn(choices[0]?.blocks ?? []));
  if (sound === undefined) throw silent();
  return { ...soundAs(format, sound) };
}

function soundsIn(blocks: readonly (ReplyBlock | BlockOpening)[]): readonly Sound[] {
  return blocks.flatMap((block) =>
    block.kind === 'media' && block.mediaType.startsWith('audio/') ? [block] : [],
  );
}

/** Samples come in several pieces, and a file is written of all of them. */
function joined(sounds: readonly Sound[]): Sound | undefined {
  const [first] = sounds;
  if (first === undefined || sounds.length === 1) return first;
  const bytes = sounds.map(({ base64 }) => Buffer.from(base64, 'base64'));
  return { ...first, base64: Buffer.concat(bytes).toString('base64') };
}

function silent(): GatewayError {
  return rejected('input', 'input: the model answered without speaking; ask one that speaks.');
}

/** Samples of 16 bits, of one channel. */
const SAMPLES = /^audio\/(?:l16|pcm)\b/i;
const DEFAULT_RATE = 24_000;
const SOUND_TYPES: ReadonlyMap<string, string> = new Map([['audio/mp3', 'audio/mpeg']]);

interface Sound {
  readonly mediaType: string;
  readonly base64: string;
}

/** Bare samples come in a file, as nothing but `pcm` says what they are; everything else comes as it is. */
function soundAs(format: SpokenText['format'], { mediaType, base64 }: Sound): Sound {
  if (!SAMPLES.test(mediaType))
    return { mediaType: SOUND_TYPES.get(mediaType) ?? mediaType, base64 };
  if (format === 'pcm') return { mediaType: 'audio/pcm', base64 };
  const rate = Number(/\brate=(\d+)/i.exec(mediaType)?.[1] ?? DEFAULT_RATE);
  const samples = Buffer.from(base64, 'base64');
  const file = Buffer.concat([wavHeader(samples.length, rate), samples]);
  return { mediaType: 'audio/wav', base64: file.toString('base64') };
}

/** RIFF, "WAVE": one channel of 16 bits. */
function wavHeader(length: number, rate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * rate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(length, 40);
  return header;
}

function createSpeechWriter({ format }: SpokenText): StreamWriter {
  const sounds: Sound[] = [];
  return createPieceWriter({
    unfinished: UNSPOKEN,
    pieceOf(event) {
      if (event.kind === 'block-start') sounds.push(...soundsIn([event.block]));
      return undefined;
    },
    last(usage) {
      const sound = joined(sounds);
      if (sound === undefined) return silent();
      return [
        { type: 'speech.audio.delta', audio: soundAs(format, sound).base64 },
        { type: 'speech.audio.done', usage: writeTokens(usage) },
      ];
    },
  });
}

const UNSPOKEN: Unfinished = {
  field: 'input',
  refused: 'The model refused to speak this text.',
  tooLong: 'there is more to say than one answer holds; split it.',
};
