// The endpoints of the Chat wire for pictures, recordings and speech, each with models of its own.
// Sources: the types of `openai` (resources/images, audio/transcriptions, audio/translations, audio/speech).

import { type ChatServices, requireModel } from './chat.ts';
import { requireShape } from './chat-rules.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from './json.ts';
import { BASE64 } from './media-bytes.ts';
import { drawPicture, pictureTokens } from './pictures.ts';
import { play } from './play.ts';
import {
  FLAG,
  fields,
  listOf,
  OBJECT,
  type Shape,
  type Shapes,
  TEXT,
  textOr,
  words,
} from './shapes.ts';
import type { Answer } from './simulate.ts';
import { type Ending, type Fault, requireStanding } from './state.ts';
import { countTextTokens, sumTokens } from './tokens.ts';
import type { Blob, GenerateRequest, Part } from './wire.ts';
import { chatLimits, idHeader, type WireCall, WireError, writeChatError } from './wire-errors.ts';
import type { ChatModel } from './wire-models.ts';
import { damage, type Frames, splitText } from './write-answer.ts';

const PROMPT: Shape = { kind: 'text', min: 1, max: 32_000 };
const PICTURE_FIELDS: Shapes = {
  n: { kind: 'whole', min: 1, max: 10 },
  size: TEXT,
  quality: words('auto', 'low', 'medium', 'high', 'xhigh', 'max'),
  background: words('auto', 'opaque', 'transparent'),
  output_format: words('png', 'jpeg', 'webp'),
  output_compression: { kind: 'whole', min: 0, max: 100 },
  partial_images: { kind: 'whole', min: 0, max: 3 },
  stream: FLAG,
};
const USER: Shapes = { user: TEXT, safety_identifier: { kind: 'text', max: 64 } };
/** As `readForm` gives it. */
const FILE = OBJECT;
const GENERATION = fields({ model: TEXT, prompt: PROMPT }, USER, {
  ...PICTURE_FIELDS,
  moderation: words('low', 'auto'),
});
const EDIT = fields(
  { model: TEXT, prompt: PROMPT, image: FILE },
  { ...USER, mask: FILE },
  { ...PICTURE_FIELDS, input_fidelity: words('high', 'low') },
);
const EDIT_OF_SEVERAL: Shape = {
  ...EDIT,
  required: { ...EDIT.required, image: listOf(FILE, { min: 1, max: 16 }) },
};
const TRANSCRIPTION = fields(
  { model: TEXT, file: FILE },
  {
    language: { kind: 'text', max: 3 },
    prompt: TEXT,
    response_format: words('json', 'text', 'srt', 'verbose_json', 'vtt'),
    temperature: { kind: 'number', min: 0, max: 1 },
    timestamp_granularities: listOf(words('word', 'segment'), { min: 1, max: 2 }),
    stream: FLAG,
    include: listOf(words('logprobs')),
    chunking_strategy: textOr(OBJECT),
  },
);
const TRANSLATION = fields(
  { model: TEXT, file: FILE },
  {
    prompt: TEXT,
    response_format: words('json', 'text', 'srt', 'verbose_json', 'vtt'),
    temperature: { kind: 'number', min: 0, max: 1 },
  },
);
const SPEECH = fields(
  {
    model: TEXT,
    input: { kind: 'text', min: 1, max: 4096 },
    voice: words(
      ...['alloy', 'ash', 'ballad', 'coral', 'echo', 'fable', 'onyx', 'nova', 'sage', 'shimmer'],
      ...['verse', 'marin', 'cedar'],
    ),
  },
  {
    instructions: TEXT,
    response_format: words('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'),
    speed: { kind: 'number', min: 0.25, max: 4 },
    stream_format: words('sse', 'audio'),
  },
);

function refuse(message: string, param: string, code: string | null = null): never {
  throw new WireError(400, message, { param, code });
}

function textAt(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? value : undefined;
}

/** The members of a checked body. */
function membersOf(body: JsonValue): JsonObject {
  return isJsonObject(body) ? body : {};
}

function headersOf({ account, requestId }: WireCall, model: ChatModel, services: ChatServices) {
  const { quotas, clock } = services;
  return {
    ...idHeader('chat', requestId),
    ...chatLimits(quotas.read(account, model.id), clock.now()),
  };
}

const EVENTS = 'text/event-stream; charset=utf-8';
const BROKEN = 'data: {"type":\n\n';

/** Named events; a fault's damage included. */
function writeEvents(
  events: readonly JsonObject[],
  headers: Readonly<Record<string, string>>,
  fault: Fault,
): Frames {
  const frame = (event: JsonObject): string =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const frames = fault.emptyStream === true ? [] : events.map(frame);
  const form = { error: writeChatError, frame, broken: BROKEN };
  return { contentType: EVENTS, headers, list: damage(frames, fault, form) };
}

function writeJson(
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  { garbage }: Fault,
): Frames {
  const text = garbage === true ? BROKEN : JSON.stringify(body);
  return { contentType: 'application/json', headers, list: [text] };
}

/** `POST /v1/images/generations`. @throws SandboxError until the answer has begun. */
export function generateImages(call: WireCall, services: ChatServices): Promise<Ending> {
  const model = requireModel(call.body, 'images');
  requireShape(call.body, GENERATION);
  return draw(call, model, { inputs: [], what: 'image_generation' }, services);
}

/** `POST /v1/images/edits`, as a form. @throws SandboxError until the answer has begun. */
export function editImages(call: WireCall, services: ChatServices): Promise<Ending> {
  const model = requireModel(call.body, 'images');
  const { image, mask } = membersOf(call.body);
  requireShape(call.body, Array.isArray(image) ? EDIT_OF_SEVERAL : EDIT);
  const images = Array.isArray(image) ? image : [image ?? null];
  const inputs = images.map((one) => readPicture(one, 'image'));
  if (mask !== undefined && readPicture(mask, 'mask').mimeType !== 'image/png') {
    refuse('Invalid mask image format - mask image must be a PNG.', 'mask');
  }
  return draw(call, model, { inputs, what: 'image_edit' }, services);
}

function readPicture(value: JsonValue, param: string): Blob {
  const file = readFile(value, param);
  if (['image/png', 'image/jpeg', 'image/webp'].includes(file.mimeType ?? '')) return file;
  const message = `Invalid file '${param}': unsupported mimetype ('${file.mimeType}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`;
  return refuse(message, param, 'unsupported_file_mimetype');
}

function readFile(value: JsonValue, param: string): Blob {
  const { type, data } = membersOf(value);
  if (typeof type !== 'string' || typeof data !== 'string' || !BASE64.test(data)) {
    return refuse(`Invalid type for '${param}': expected a file.`, param, 'invalid_type');
  }
  return { mimeType: type, data };
}

interface Drawing {
  readonly inputs: readonly Blob[];
  readonly what: 'image_generation' | 'image_edit';
}

function draw(
  call: WireCall,
  model: ChatModel,
  { inputs, what }: Drawing,
  services: ChatServices,
): Promise<Ending> {
  const body = membersOf(call.body);
  const { n, partial_images: drafts = 0, stream } = body;
  const isStream = stream === true;
  if (Number(drafts) > 0 && !isStream) {
    refuse("'partial_images' is only supported when 'stream' is true.", 'partial_images');
  }
  const area = drawnAs(model, textAt(body, 'size') ?? 'auto');
  const prompt = textAt(body, 'prompt') ?? '';
  const created = Math.floor(services.clock.now() / 1000);
  const headers = headersOf(call, model, services);
  const picture = (draft?: number): string =>
    drawPicture({ prompt, seed: undefined, ratio: '', size: '1K', inputs, draft, area }).toString(
      'base64',
    );
  const facts = {
    ...{ background: 'opaque', output_format: 'png', quality: textAt(body, 'quality') ?? 'high' },
    size: `${area.width}x${area.height}`,
  };
  const usage = usageOf(prompt, inputs, Number(n ?? 1));
  return playText(call, { model, isStream, parts: [{ text: prompt }] }, services, (_, fault) => {
    if (!isStream) {
      const data = Array.from({ length: Number(n ?? 1) }, (_one, at) => ({
        b64_json: picture(at === 0 ? undefined : -at),
      }));
      return writeJson({ created, data, ...facts, usage }, headers, fault);
    }
    const unfinished = Array.from({ length: Number(drafts) }, (_one, at) => ({
      type: `${what}.partial_image`,
      b64_json: picture(at + 1),
      partial_image_index: at,
      created_at: created,
      ...facts,
    }));
    const last = {
      type: `${what}.completed`,
      b64_json: picture(),
      created_at: created,
      ...facts,
      usage,
    };
    return writeEvents([...unfinished, last], headers, fault);
  });
}

const INPUT_TOKENS = 323;

function usageOf(prompt: string, inputs: readonly Blob[], count: number): JsonObject {
  const text_tokens = countTextTokens(prompt);
  const image_tokens = inputs.length * INPUT_TOKENS;
  const input_tokens = text_tokens + image_tokens;
  const output_tokens = count * pictureTokens('1K');
  return {
    input_tokens,
    input_tokens_details: { text_tokens, image_tokens },
    output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

/** Sides of other models are multiples of this. */
const GRID = 16;
const MAX_PIXELS = 3840 * 2160;

/** @throws WireError 400 for a size in which the model does not draw. */
function drawnAs({ sizes }: ChatModel, size: string): { width: number; height: number } {
  const [, width = '1024', height = '1024'] =
    size === 'auto' ? [] : (/^(\d{1,4})x(\d{1,4})$/.exec(size) ?? ['', '0', '0']);
  const area = { width: Number(width), height: Number(height) };
  const isFree = sizes === undefined || size === 'auto';
  const ratio = area.width / area.height;
  const isGood = isFree
    ? [area.width, area.height].every((side) => side > 0 && side % GRID === 0) &&
      area.width * area.height <= MAX_PIXELS &&
      ratio >= 1 / 3 &&
      ratio <= 3
    : sizes.includes(size);
  if (isGood) return area;
  const known = [...(sizes ?? ['<width>x<height>']), 'auto'].map((one) => `'${one}'`).join(', ');
  return refuse(
    `Invalid value: '${size}'. Supported values are: ${known}.`,
    'size',
    'invalid_value',
  );
}

interface Told {
  readonly model: ChatModel;
  readonly isStream: boolean;
  readonly parts: readonly Part[];
  readonly schema?: JsonValue | undefined;
}

/** Faults, quota and directives as for answers in conversations. */
function playText(
  call: WireCall,
  { model, isStream, parts, schema }: Told,
  services: ChatServices,
  write: (answer: Answer, fault: Fault) => Frames,
): Promise<Ending> {
  requireStanding(call.account, model.id);
  const generationConfig =
    schema === undefined
      ? {}
      : { responseMimeType: 'application/json', responseJsonSchema: schema };
  const request: GenerateRequest = { contents: [{ role: 'user', parts }], generationConfig };
  const asked = { model, request, isStream, countCached: () => 0, write };
  return play(call, asked, services);
}

const SECONDS = { type: 'number' };
const timed = (name: string): JsonObject => ({
  type: 'array',
  items: {
    type: 'object',
    properties: { start: SECONDS, end: SECONDS, [name]: { type: 'string' } },
  },
});
const TIMES: JsonObject = {
  type: 'object',
  properties: {
    language: { type: 'string' },
    duration: SECONDS,
    segments: timed('text'),
    words: timed('word'),
  },
  required: ['language', 'duration', 'segments', 'words'],
};

/** Words that make the simulation tell what a recording is. */
const ASKING = 'Write down what is said in this recording.';

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`. @throws SandboxError until the answer has begun. */
export function transcribe(
  call: WireCall,
  task: 'transcribe' | 'translate',
  services: ChatServices,
): Promise<Ending> {
  const model = requireModel(call.body, 'transcriptions');
  requireShape(call.body, task === 'translate' ? TRANSLATION : TRANSCRIPTION);
  const body = membersOf(call.body);
  const format = textAt(body, 'response_format') ?? 'json';
  const isTimed = format === 'verbose_json';
  if (model.tellsTimes !== true) {
    if (task === 'translate') {
      const message = `Invalid model ${model.id}. The model argument should be left blank.`;
      refuse(message, 'model', 'invalid_model');
    }
    if (format !== 'json' && format !== 'text') {
      const message = `response_format '${format}' is not compatible with model '${model.id}'. Use 'json' or 'text' instead.`;
      refuse(message, 'response_format', 'unsupported_value');
    }
  }
  const granularities = Array.isArray(body.timestamp_granularities)
    ? body.timestamp_granularities
    : [];
  if (granularities.length > 0 && !isTimed) {
    const message = 'timestamp_granularities requires response_format to be verbose_json.';
    refuse(message, 'timestamp_granularities');
  }
  if (format === 'srt' || format === 'vtt') {
    refuse(`The sandbox does not write ${format}; ask for verbose_json.`, 'response_format');
  }
  const sound = readFile(body.file ?? null, 'file');
  if (!/^(?:audio|video)\//.test(sound.mimeType ?? '')) {
    refuse('Invalid file format.', 'file', null);
  }
  // Streams of models that tell times are ignored, as the real ones are.
  const isStream = body.stream === true && model.tellsTimes !== true;
  const parts = [{ inlineData: sound }, { text: `${ASKING} ${textAt(body, 'prompt') ?? ''}` }];
  const told = { model, isStream, parts, schema: isTimed ? TIMES : undefined };
  const headers = headersOf(call, model, services);
  return playText(call, told, services, (answer, fault) => {
    const text = answer.candidates[0]?.text ?? '';
    if (format === 'text') return { contentType: 'text/plain', headers, list: [`${text}\n`] };
    if (isTimed) {
      const times = membersOf(parseJson(text));
      const { words: spoken, ...others } = times;
      const shown = { task, ...others, text: wordsOf(times.segments) };
      const said = granularities.includes('word') ? { ...shown, words: spoken ?? [] } : shown;
      return writeJson(said, headers, fault);
    }
    const usage = soundUsage(answer, text);
    if (!isStream) return writeJson({ text, usage }, headers, fault);
    const deltas = splitText(text).map((delta) => ({ type: 'transcript.text.delta', delta }));
    return writeEvents([...deltas, { type: 'transcript.text.done', text, usage }], headers, fault);
  });
}

function wordsOf(segments: JsonValue | undefined): string {
  return (Array.isArray(segments) ? segments : [])
    .map((segment) => textAt(membersOf(segment), 'text') ?? '')
    .join(' ');
}

function soundUsage({ prompt }: Answer, text: string): JsonObject {
  const audio_tokens = prompt.get('AUDIO') ?? 0;
  const input_tokens = sumTokens(prompt);
  const output_tokens = countTextTokens(text);
  return {
    type: 'tokens',
    input_tokens,
    input_token_details: { audio_tokens, text_tokens: input_tokens - audio_tokens },
    output_tokens,
    total_tokens: input_tokens + output_tokens,
  };
}

const SAMPLE_RATE = 24_000;
const BYTES_PER_SAMPLE = 2;
/** So many samples a character: forty milliseconds. */
const SAMPLES_PER_CHARACTER = 960;
const HALF_PERIOD = 50;
const LOUDNESS = 8_000;

/** `POST /v1/audio/speech`: a hum as long as the text. @throws SandboxError until the answer has begun. */
export function speak(call: WireCall, services: ChatServices): Promise<Ending> {
  const model = requireModel(call.body, 'speech');
  requireShape(call.body, SPEECH);
  const body = membersOf(call.body);
  const input = textAt(body, 'input') ?? '';
  const format = textAt(body, 'response_format') ?? 'mp3';
  if (format !== 'pcm' && format !== 'wav') {
    refuse(`The sandbox speaks pcm and wav, and no ${format}.`, 'response_format');
  }
  const isStream = body.stream_format === 'sse';
  if (model.speaksInOne === true && (isStream || body.instructions !== undefined)) {
    const field = isStream ? 'stream_format' : 'instructions';
    refuse(`'${field}' is not supported with this model.`, field);
  }
  const samples = hum(input.length * SAMPLES_PER_CHARACTER);
  const sound = format === 'pcm' ? samples : Buffer.concat([wavHeader(samples.length), samples]);
  const headers = headersOf(call, model, services);
  const told = { model, isStream, parts: [{ text: input }] };
  return playText(call, told, services, (_, fault) => {
    if (!isStream) return { contentType: `audio/${format}`, headers, list: [sound] };
    const half = Math.ceil(sound.length / 4) * BYTES_PER_SAMPLE;
    const pieces = [sound.subarray(0, half), sound.subarray(half)];
    const deltas = pieces.map((piece) => ({
      type: 'speech.audio.delta',
      audio: piece.toString('base64'),
    }));
    const input_tokens = countTextTokens(input);
    const output_tokens = Math.ceil(samples.length / SAMPLE_RATE);
    const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
    return writeEvents([...deltas, { type: 'speech.audio.done', usage }], headers, fault);
  });
}

function hum(count: number): Buffer {
  const samples = Buffer.alloc(count * BYTES_PER_SAMPLE);
  for (let at = 0; at < count; at += 1) {
    const isHigh = Math.floor(at / HALF_PERIOD) % 2 === 0;
    samples.writeInt16LE(isHigh ? LOUDNESS : -LOUDNESS, at * BYTES_PER_SAMPLE);
  }
  return samples;
}

const WAV_HEADER_BYTES = 44;

/** One channel of 16 bits. */
function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
