// Reads transcription requests: one audio file, its language and prompt, the response format; writes the instruction.

import { GatewayError, invalidRequest } from '../../canonical/error.ts';
import { sniffMediaType, spellMediaType } from '../../canonical/media.ts';
import { plainModelName } from '../../canonical/model.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, MediaPart } from '../../canonical/request.ts';
import { type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  ANYTHING,
  BOOLEAN,
  numberIn,
  objectOf,
  STRING,
  wordOf,
} from '../../protocols/body-schema.ts';
import {
  check,
  each,
  missingField,
  noteUnread,
  unknownWord,
  wrongType,
} from '../../protocols/chat/schema.ts';
import type { RouteInput, UploadedFile } from '../../protocols/protocol.ts';
import { askOnce, readFormFields } from '../requests.ts';

interface InstructionOptions {
  readonly task: 'transcribe' | 'translate';
  readonly isTimed: boolean;
  readonly hasWords: boolean;
  /** What may be spoken; empty when the client does not say. */
  readonly languages: readonly string[];
  /** Words that may occur, spelt as they are to be written. */
  readonly keywords: readonly string[];
  /** The client's own prompt: names and style to expect. */
  readonly hint: string;
}

const TIMED = { start: { type: 'number' }, end: { type: 'number' } } as const;

/** Times in seconds from the beginning of the recording. */
export const SEGMENTS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    language: { type: 'string', description: 'Name of the spoken language, in English.' },
    duration: { type: 'number', description: 'Length of the recording in seconds.' },
    segments: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...TIMED, text: { type: 'string' } },
        required: ['start', 'end', 'text'],
      },
    },
    words: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...TIMED, word: { type: 'string' } },
        required: ['start', 'end', 'word'],
      },
    },
  },
  required: ['language', 'duration', 'segments'],
};

function instructionOf(options: InstructionOptions): string {
  const { task, isTimed, hasWords, languages, keywords, hint } = options;
  const lines = [
    task === 'translate'
      ? 'Write down what is said in this recording, translated into English.'
      : 'Write down what is said in this recording, word for word, in its own language.',
    isTimed
      ? 'Divide it into segments of a sentence or a few seconds, with their times in seconds.'
      : 'Answer with these words alone, without comments, names of speakers or times.',
  ];
  if (isTimed && hasWords) lines.push('Give the times of every single word too.');
  if (languages.length === 1) lines.push(`The language is: ${languages[0]}`);
  if (languages.length > 1) lines.push(`The language is one of these: ${languages.join(', ')}`);
  if (keywords.length > 0) {
    lines.push(`These words may occur, and are spelt like this: ${keywords.join(', ')}`);
  }
  if (hint !== '') {
    lines.push(`What may help with names and spelling, not part of the recording: ${hint}`);
  }
  return lines.join('\n');
}

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type AudioFormat = (typeof FORMATS)[number];

/** What is to become of the speech. */
export type AudioTask = 'transcribe' | 'translate';

export interface AudioRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly canonical: CanonicalRequest;
  readonly settings: AudioSettings;
}

export interface AudioSettings {
  readonly task: AudioTask;
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
    stream: BOOLEAN,
    temperature: numberIn({ min: 0, max: 1 }),
  },
  ['file', 'chunking_strategy', 'user'],
);

/** @throws GatewayError 400 naming the field, 413 for a file above 25 MB */
export function readAudio(
  { body: sent, files = [], receipt }: RouteInput,
  task: AudioTask,
): AudioRequest {
  const sound = readSound(files, receipt);
  const { value: body, unknown } = check(readFormFields(sent, BODY), BODY, '');
  const format = body.response_format ?? 'json';
  const isTimed = format === 'srt' || format === 'vtt' || format === 'verbose_json';
  const stream = body.stream ?? false;
  if (stream && isTimed) {
    throw invalidRequest(
      'stream',
      'stream: timed formats come whole; ask for json or text, or leave stream out.',
      'unsupported',
    );
  }
  const hasWords = readGranularities(body.timestamp_granularities, format).includes('word');
  const model = plainModelName(body.model ?? '');
  if (model === '') throw missingField('model');
  noteUnread(unknown, { path: '', receipt });
  const instruction = instructionOf({
    task,
    isTimed,
    hasWords,
    languages: [...readTexts(body.language, 'language'), ...readTexts(body.languages, 'languages')],
    keywords: readTexts(body.keywords, 'keywords'),
    hint: body.prompt ?? '',
  });
  return {
    model,
    stream,
    settings: { task, format, hasWords },
    canonical: askOnce([sound, { kind: 'text', text: instruction }], {
      sampling: { temperature: readNumber(body.temperature) },
      outputFormat: isTimed ? { kind: 'json-schema', schema: SEGMENTS_SCHEMA } : { kind: 'text' },
      clientNames: { messages: 'file', response_schema: 'response_format' },
    }),
  };
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
    throw new GatewayError({
      kind: 'too-large',
      source: 'client',
      field: 'file',
      message: 'file is larger than 25 MB; split the recording.',
    });
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
  throw invalidRequest(
    'file',
    `file: this type of file is not supported; send one of ${[...TYPES.keys()].join(', ')}.`,
    'unsupported',
  );
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
