// Models with an endpoint of their own: what is sent there (a prompt to draw, a recording, a text to speak), and what its
// answer becomes.

import { createHash } from 'node:crypto';
import { type GatewayError, invalidRequest } from '../../canonical/error.ts';
import type { BlockOpening, CanonicalEvent, DrawnAs, Heard } from '../../canonical/event.ts';
import type { ImageOptions } from '../../canonical/image-options.ts';
import { formBetween, SAME_FORM, type Sides, sidesOf } from '../../canonical/image-options.ts';
import { sniffMediaType } from '../../canonical/media.ts';
import { memberPath, type Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, MediaPart, Part, Turn } from '../../canonical/request.ts';
import type { Transcription } from '../../canonical/sound.ts';
import { mendText } from '../../canonical/text-forms.ts';
import { readTokenCount, type Usage } from '../../canonical/usage.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
  writtenValue,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { DONE } from '../../wire/chat.ts';
import { answerFault, cutAnswer, noAnswer, secretsIn } from '../errors.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { DecodeContext, Decoder, EncodeTarget, UpstreamCall } from '../upstream.ts';
import { unreadableCache } from '../wire-parts.ts';
import { PCM_TYPE, readUsage } from './decode.ts';
import { addressOf } from './encode.ts';
import { classifyErrorFrame } from './errors.ts';
import type {
  ChatPaths,
  ChatProfile,
  ImageModels,
  MediaModel,
  SpeechModels,
  TranscriptionModels,
} from './profiles.ts';
import { postRequest } from './queries.ts';

/**
 * The body, with the `endpoint` it is for, and files as data URIs: how they are sent is the endpoint's.
 * @throws GatewayError (invalid-request) for what such a model cannot do.
 */
export function encodeMedia(
  request: CanonicalRequest,
  { kind, traits }: MediaModel,
  target: EncodeTarget,
): JsonObject {
  noteUnsaid(request, kind, target);
  switch (kind) {
    case 'images':
      return encodeDrawing(request, traits, target);
    case 'transcriptions':
      return encodeTranscription(request, traits, target);
    case 'speech':
      return encodeSpeech(request, traits, target);
    default:
      return kind satisfies never;
  }
}

function bodyFor(endpoint: MediaEndpoint, fields: Readonly<Record<string, unknown>>): JsonObject {
  return { endpoint, ...(definedFields(fields as JsonObject) ?? {}) };
}

/** What only models in conversations have words for: told, and left out. */
function noteUnsaid(
  request: CanonicalRequest,
  kind: MediaModel['kind'],
  { receipt }: EncodeTarget,
): void {
  const { sampling, outputFormat, safety, transcription } = request;
  if (request.cachedContent !== undefined) throw unreadableCache();
  const reason = told`This model takes no part in conversations, and has no such setting.`;
  const takesTemperature = kind === 'transcriptions';
  const settings: readonly (readonly [field: string, isAsked: boolean])[] = [
    ['temperature', sampling.temperature !== undefined && !takesTemperature],
    ['top_p', sampling.topP !== undefined],
    ['top_k', sampling.topK !== undefined],
    ['seed', sampling.seed !== undefined],
    ['presence_penalty', sampling.presencePenalty !== undefined],
    ['frequency_penalty', sampling.frequencyPenalty !== undefined],
    ['logprobs', sampling.logprobs !== undefined],
    ['max_tokens', request.maxOutputTokens !== undefined],
    ['response_format', outputFormat.kind !== 'text' && transcription === undefined],
    ['safety_settings', safety.length > 0],
    ['media_resolution', request.mediaResolution !== undefined],
    ['speech', request.speech !== undefined && kind !== 'speech'],
    ['size', request.image !== undefined && kind !== 'images'],
  ];
  for (const [field, isAsked] of settings) if (isAsked) receipt.add('dropped', field, reason);
}

/** What is asked last, and the instructions before it. */
interface Asked {
  readonly parts: readonly Part[];
  /** Instructions first. */
  readonly text: string;
  readonly instructions: string;
}

/** Such a model is asked once: of a conversation the last turn counts. */
function readAsked({ system, turns }: CanonicalRequest, { receipt }: EncodeTarget): Asked {
  const last = turns.findLast(({ role }) => role === 'user');
  if (turns.some((turn) => turn !== last && turn.role !== 'system')) {
    const reason = told`This model is asked with the last turn alone: the turns before it were left out.`;
    receipt.add('dropped', 'messages', reason);
  }
  const parts = last?.parts ?? [];
  const inBetween = turns.flatMap(({ role, parts }): readonly Part[] =>
    role === 'system' ? parts : [],
  );
  const instructions = textsOf([...system, ...inBetween]);
  const said = textsOf(parts);
  const text = [instructions, said].filter((one) => one !== '').join('\n\n');
  return { parts, text, instructions };
}

function textsOf(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) =>
    part.kind === 'text' && part.text !== '' ? part.text : [],
  );
  return texts.join('\n\n');
}

function encodeDrawing(
  request: CanonicalRequest,
  traits: ImageModels,
  target: EncodeTarget,
): JsonObject {
  const { modelId } = target;
  const { parts, text } = readAsked(request, target);
  if (text.trim() === '') {
    throw invalidRequest('messages', 'messages: this model draws; say what to draw.');
  }
  const pictures = picturesOf(parts, request.turns);
  const drafts = draftsAsked(request, traits, target);
  const endpoint = pictures.length === 0 ? 'images/generations' : 'images/edits';
  const fields = {
    model: modelId,
    prompt: text,
    ...detailsAt(endpoint, request, target),
    size: sizeOf(request.image, traits, target),
    quality: qualityOf(request.image, traits, target),
    response_format: traits.takesFormat ? 'b64_json' : undefined,
    partial_images: drafts > 0 ? drafts : undefined,
  };
  if (pictures.length === 0) return bodyFor(endpoint, fields);
  if (!traits.edits) {
    const message = 'image: this model draws from words alone; send the prompt without a picture.';
    throw invalidRequest('image', message, 'unsupported');
  }
  const [masks, images] = [pictures.filter(isMask), pictures.filter((one) => !isMask(one))];
  return bodyFor(endpoint, {
    ...fields,
    image: images.map(dataUri),
    mask: masks[0] && dataUri(masks[0]),
  });
}

function draftsAsked(
  { imageDrafts = 0 }: CanonicalRequest,
  { streams }: ImageModels,
  { receipt, isWhole }: EncodeTarget,
): number {
  if (imageDrafts === 0 || (streams && isWhole !== true)) return imageDrafts;
  const reason = streams
    ? told`Each of several images is asked for whole, without partial images.`
    : told`This model sends no partial images.`;
  receipt.add('dropped', 'partial_images', reason);
  return 0;
}

/** Source: `openai` resources/images, `ImageGenerateParams` beside `ImageEditParams`. */
const DETAIL_OF_THE_OTHER = {
  'images/generations': 'input_fidelity',
  'images/edits': 'moderation',
} as const;

function detailsAt(
  endpoint: 'images/generations' | 'images/edits',
  { imageDetails: { path, fields } = { path: '', fields: {} } }: CanonicalRequest,
  { receipt }: EncodeTarget,
): JsonObject {
  const { [DETAIL_OF_THE_OTHER[endpoint]]: other, ...details } = fields;
  if (other !== undefined) {
    const name = memberPath(path, DETAIL_OF_THE_OTHER[endpoint]);
    receipt.add('dropped', name, told`The upstream has no such setting.`);
  }
  return details;
}

const isMask = ({ isMask: is }: MediaPart): boolean => is === true;

/** Those of the last turn; a dialogue goes on with the picture drawn last. */
function picturesOf(parts: readonly Part[], turns: readonly Turn[]): readonly MediaPart[] {
  const given = parts.filter(isPicture);
  if (given.length > 0) return given;
  const drawn: readonly Part[] = turns.findLast(({ role }) => role === 'assistant')?.parts ?? [];
  return drawn.filter(isPicture).slice(-1);
}

function isPicture(part: Part): part is MediaPart {
  return part.kind === 'media' && part.modality === 'image';
}

function isSound(part: Part): part is MediaPart {
  return part.kind === 'media' && part.modality === 'audio';
}

function dataUri(part: MediaPart): string {
  const { mediaType = 'application/octet-stream' } = part;
  const { source } = part;
  const base64 = source.kind === 'base64' ? source.base64 : addressOf(part, false);
  return `data:${mediaType};base64,${base64}`;
}

/** Sides are multiples of this (`openai` resources/images, `size`). */
const GRID = 16;
const AREAS = { '1K': 1024 * 1024, '2K': 1920 * 1080, '4K': 3840 * 2160 } as const;

function sizeOf(
  image: ImageOptions | undefined,
  { sizes }: ImageModels,
  { receipt }: EncodeTarget,
): string | undefined {
  const { pixels, aspectRatio, quality } = image ?? {};
  // A word for the quality is no size.
  const size = quality === undefined ? image?.size : undefined;
  if (pixels === undefined && aspectRatio === undefined && size === undefined) return undefined;
  if (sizes === 'none') {
    receipt.add('dropped', 'size', told`This model draws in a size of its own.`);
    return undefined;
  }
  // Beside a size in words, one in pixels says the form.
  const isExact = pixels !== undefined && size === undefined;
  const wanted = isExact
    ? sidesOf(pixels)
    : ofRatio(pixels ?? aspectRatio ?? '1:1', AREAS[size ?? '1K']);
  const found = sizes === 'any' ? onGrid(wanted) : nearest(wanted, sizes);
  const isAsked = isExact ? found === pixels : formBetween(sidesOf(found), wanted) < SAME_FORM;
  if (isAsked && (sizes === 'any' || size === undefined)) return found;
  receipt.add('approximated', 'size', told`This model draws it as ${found}.`);
  return found;
}

function ofRatio(ratio: string, area: number): Sides {
  const { width, height } = sidesOf(ratio);
  const unit = Math.sqrt(area / (width * height));
  return { width: width * unit, height: height * unit };
}

function onGrid({ width, height }: Sides): string {
  const multiple = (side: number): number => Math.max(1, Math.round(side / GRID)) * GRID;
  return `${multiple(width)}x${multiple(height)}`;
}

/** Of equal form the one nearest in size. */
function nearest(wanted: Sides, sizes: readonly string[]): string {
  const distance = (size: string): number => {
    const sides = sidesOf(size);
    const area = Math.abs(
      Math.log(sides.width * sides.height) - Math.log(wanted.width * wanted.height),
    );
    return formBetween(sides, wanted) * 100 + area;
  };
  return sizes.toSorted((one, other) => distance(one) - distance(other))[0] ?? 'auto';
}

function qualityOf(
  image: ImageOptions | undefined,
  { qualities }: ImageModels,
  { receipt }: EncodeTarget,
): string | undefined {
  const { quality } = image ?? {};
  if (quality === undefined || qualities.includes(quality)) return quality;
  const [lowest, highest] = [qualities[0], qualities.at(-1)];
  if (lowest === undefined || highest === undefined) {
    receipt.add('dropped', 'quality', told`This model draws in a quality of its own.`);
    return undefined;
  }
  const found = LOW_WORDS.has(quality) ? lowest : highest;
  receipt.add('approximated', 'quality', told`This model draws it in the quality "${found}".`);
  return found;
}

const LOW_WORDS: ReadonlySet<string> = new Set(['low', 'standard', 'medium']);

function encodeTranscription(
  request: CanonicalRequest,
  traits: TranscriptionModels,
  target: EncodeTarget,
): JsonObject {
  const { receipt, modelId } = target;
  const { parts, text } = readAsked(request, target);
  const [sound, another] = parts.filter(isSound);
  if (sound === undefined || another !== undefined) {
    const message = 'This model writes one recording down, and answers nothing else; send one.';
    throw invalidRequest('messages', message, 'unsupported');
  }
  const { transcription } = request;
  if (transcription === undefined && text !== '') {
    receipt.add('dropped', 'messages', told`This model transcribes audio and takes no text.`);
  }
  const { task = 'transcribe', times = 'nothing', languages = [] } = transcription ?? {};
  if (task === 'translate' && !traits.translates) {
    const message =
      'This model does not translate; name one that does, or ask for a transcription.';
    throw invalidRequest('model', message, 'unsupported');
  }
  if (times !== 'nothing' && !traits.tells.includes(times)) {
    const what = times === 'speakers' ? 'does not tell speakers apart' : 'tells no times';
    const message = `response_format: this model ${what}; ask for json or text.`;
    throw invalidRequest('response_format', message, 'unsupported');
  }
  const fields = {
    model: modelId,
    file: dataUri(sound),
    response_format: FORMS_OF_TIMES[times],
    temperature: request.sampling.temperature,
    ...hintsOf(transcription, traits),
  };
  if (task === 'translate') {
    if (languages.length > 0) {
      receipt.add('dropped', 'language', told`The endpoint detects the language itself.`);
    }
    const { language: _language, languages: _languages, ...rest } = fields;
    return bodyFor('audio/translations', rest);
  }
  if (languages.length > 1 && !traits.takesLists) {
    receipt.add('approximated', 'languages', told`Only the first of the languages was sent.`);
  }
  return bodyFor('audio/transcriptions', {
    ...fields,
    chunking_strategy: transcription?.chunking,
    timestamp_granularities: times === 'words' ? ['word', 'segment'] : undefined,
    ...speakersOf(transcription),
  });
}

function speakersOf({ speakers }: Partial<Transcription> = {}) {
  const { names = [], heard = [] } = speakers ?? {};
  return {
    ...(names.length > 0 && { known_speaker_names: [...names] }),
    ...(heard.length > 0 && { known_speaker_references: [...heard] }),
  };
}

const FORMS_OF_TIMES = {
  nothing: 'json',
  segments: 'verbose_json',
  words: 'verbose_json',
  speakers: 'diarized_json',
} as const;

/** What may be spoken, in the fields there are. */
function hintsOf(
  transcription: CanonicalRequest['transcription'],
  { takesLists }: TranscriptionModels,
) {
  const { languages = [], keywords = [], prompt = '' } = transcription ?? {};
  const [language] = languages;
  const words = takesLists ? '' : keywords.join(', ');
  const said = [prompt, words].filter((one) => one !== '').join('\n');
  return {
    ...(said === '' ? {} : { prompt: said }),
    ...(language === undefined || (takesLists && languages.length > 1) ? {} : { language }),
    ...(takesLists && languages.length > 1 ? { languages } : {}),
    ...(takesLists && keywords.length > 0 ? { keywords } : {}),
  };
}

function encodeSpeech(
  request: CanonicalRequest,
  traits: SpeechModels,
  target: EncodeTarget,
): JsonObject {
  const { receipt, modelId } = target;
  const { spoken } = request;
  const asked = readAsked(request, target);
  const instructions = spoken?.instructions ?? asked.instructions;
  const input = textsOf(asked.parts);
  if (input.trim() === '') {
    throw invalidRequest('messages', 'messages: this model speaks; send the text to speak.');
  }
  if (request.speech !== undefined) {
    const reason = told`The voices of the upstream have other names: its own was taken.`;
    receipt.add('approximated', 'speech', reason);
  }
  const isInstructed = instructions !== '';
  if (isInstructed && !traits.takesInstructions) {
    receipt.add('dropped', 'system', told`This model speaks the text alone, without instructions.`);
  }
  return bodyFor('audio/speech', {
    model: modelId,
    input,
    voice: spoken?.voice ?? traits.voice,
    response_format: spoken?.format ?? traits.format,
    speed: spoken?.speed,
    instructions: isInstructed && traits.takesInstructions ? instructions : undefined,
  });
}

/** In the vocabulary of the public API; the paths are the profile's. */
type MediaEndpoint =
  | 'images/generations'
  | 'images/edits'
  | 'audio/transcriptions'
  | 'audio/translations'
  | 'audio/speech';

interface EndpointForm {
  readonly path: keyof ChatPaths;
  /** Fields that are files, which make the body a form. */
  readonly files: readonly string[];
}

const FORMS: ReadonlyMap<JsonValue | undefined, EndpointForm> = new Map<
  MediaEndpoint,
  EndpointForm
>([
  ['images/generations', { path: 'images', files: [] }],
  ['images/edits', { path: 'edits', files: ['image', 'mask'] }],
  ['audio/transcriptions', { path: 'transcriptions', files: ['file'] }],
  ['audio/translations', { path: 'translations', files: ['file'] }],
  ['audio/speech', { path: 'speech', files: [] }],
]);

/** Whether an encoded body is for one of them, and not part of a conversation. */
export function isForEndpoint({ endpoint, messages }: JsonObject): boolean {
  return messages === undefined && FORMS.has(endpoint);
}

/** The request of an encoded body; undefined for a conversation. */
export function mediaRequest(profile: ChatProfile, call: UpstreamCall): ClientRequest | undefined {
  const form = isForEndpoint(call.body) ? FORMS.get(call.body.endpoint) : undefined;
  if (form === undefined) return undefined;
  const model = profile.findMediaModel(call.modelId);
  const body = sentFields(call, model);
  const request = postRequest(profile, profile.paths[form.path], { ...call, body });
  const own = { ...request, drawsImages: true, takesBytes: true };
  if (form.files.length === 0) return own;
  const { bytes, contentType } = encodeForm(body, form.files, call.receipt);
  return { ...own, bytes, headers: { ...request.headers, 'content-type': contentType } };
}

/** Streams are asked for where the model has them; else the whole answer is the stream. */
function sentFields({ body, stream }: UpstreamCall, model: MediaModel | undefined): JsonObject {
  const { endpoint, partial_images: drafts, ...fields } = body;
  if (!stream || model?.traits.streams !== true) return fields;
  if (endpoint === 'audio/speech') return { ...fields, stream_format: 'sse' };
  return { ...fields, stream: true, ...(drafts === undefined ? {} : { partial_images: drafts }) };
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['audio/mp4', 'mp4'],
  ['audio/m4a', 'm4a'],
]);

interface FormField {
  readonly name: string;
  readonly value: string | { readonly mediaType: string; readonly bytes: Buffer };
}

/** `multipart/form-data` (RFC 7578). The boundary is made of what it parts, so that nothing in it can hold it. */
function encodeForm(
  body: JsonObject,
  files: readonly string[],
  receipt: Receipt | undefined,
): { readonly bytes: Buffer; readonly contentType: string } {
  const texts = Object.entries(body).filter(([name]) => !files.includes(name));
  const mended = parseJson(mendText(JSON.stringify(Object.fromEntries(texts)), receipt));
  const fields = [
    ...textFields(isJsonObject(mended) ? mended : {}),
    ...files.flatMap((name) => fileFields(name, body[name])),
  ];
  const hash = createHash('sha256');
  for (const { value } of fields) hash.update(typeof value === 'string' ? value : value.bytes);
  const boundary = `isthmus-${hash.digest('hex').slice(0, 60)}`;
  const pieces = fields.flatMap(({ name, value }) => {
    const isText = typeof value === 'string';
    const head = isText
      ? `name="${name}"\r\n\r\n`
      : `name="${name}"; filename="${fileNameOf(value.mediaType)}"\r\ncontent-type: ${value.mediaType}\r\n\r\n`;
    return [
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}`),
      isText ? Buffer.from(value) : value.bytes,
      Buffer.from('\r\n'),
    ];
  });
  const bytes = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Lists and objects as the official client names them: `name[]` and `name[member]`. */
function textFields(fields: JsonObject): FormField[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value)) {
      return value.map((item) => ({ name: `${name}[]`, value: writtenValue(item) }));
    }
    if (!isJsonObject(value)) return [{ name, value: writtenValue(value) }];
    return Object.entries(value).map(([member, held]) => ({
      ...{ name: `${name}[${member}]`, value: writtenValue(held) },
    }));
  });
}

function fileFields(name: string, value: JsonValue | undefined): FormField[] {
  const several = Array.isArray(value) && value.length > 1;
  return (Array.isArray(value) ? itemsOf(value) : [value ?? null]).flatMap((item) => {
    const [, mediaType, base64] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(writtenValue(item)) ?? [];
    if (mediaType === undefined || base64 === undefined) return [];
    const bytes = Buffer.from(base64, 'base64');
    return [{ name: several ? `${name}[]` : name, value: { mediaType, bytes } }];
  });
}

/** Servers go by its ending. */
function fileNameOf(mediaType: string): string {
  const [kind = 'file', type = 'bin'] = mediaType.split('/');
  return `${kind}.${ENDINGS.get(mediaType) ?? type.replace(/[^a-z0-9]+/g, '')}`;
}

// What these endpoints answer, whole or as a stream, becomes canonical events.

/** The last event of a stream is recognized by its type; a whole answer is one frame. */
export class MediaDecoder implements Decoder {
  readonly #context: DecodeContext;
  readonly #now: () => number;
  /** True once anything came. */
  #hasArrived = false;
  /** True once something was answered, be it a silence. */
  #hasAnswer = false;
  /** True once the answer is known to be whole. */
  #isWhole = false;
  #hasStarted = false;
  #hasEnded = false;
  #nextIndex = 0;
  /** The index of the text that goes on. */
  #openText: number | undefined;
  #sound: Buffer[] = [];
  #usage: Usage | undefined;
  #heard: Heard | undefined;

  constructor(context: DecodeContext, now: () => number) {
    this.#context = context;
    this.#now = now;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  push(frame: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded || frame === DONE) return events;
    const { type, error } = frame;
    if (type === 'error' || (error !== undefined && error !== null)) {
      this.#hasEnded = true;
      const fault = classifyErrorFrame(error ?? frame, this.#now(), secretsIn(this.#context));
      return [{ kind: 'error', error: fault }];
    }
    this.#hasArrived = true;
    this.#usage = usageIn(frame.usage) ?? this.#usage;
    switch (this.#context.body?.endpoint) {
      case 'audio/speech':
        this.#readSound(frame);
        break;
      case 'audio/transcriptions':
      case 'audio/translations':
        this.#readWords(frame, events);
        break;
      default:
        this.#readPictures(frame, events);
    }
    return events;
  }

  end(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    if (this.#hasEnded) return events;
    this.#hasEnded = true;
    this.#giveSound(events);
    this.#closeText(events);
    if (this.#usage !== undefined) events.push({ kind: 'usage', usage: this.#usage });
    const error = this.#faultOfEnd();
    if (error !== undefined) return [...events, { kind: 'error', error }];
    const heard = this.#heard;
    const end = { choice: 0, reason: 'stop', rawReason: 'stop', heard } as const;
    return [...events, { kind: 'finish', choices: [end] }];
  }

  #faultOfEnd(): GatewayError | undefined {
    if (!this.#hasArrived) return noAnswer();
    if (!this.#isWhole) return cutAnswer();
    if (this.#hasAnswer) return undefined;
    const said = { secrets: secretsIn(this.#context) };
    return answerFault(told`The model gave an empty answer.`, said);
  }

  /** `{data: [{b64_json}]}`, or events that end in `partial_image` and `completed`. */
  #readPictures(frame: JsonObject, events: CanonicalEvent[]): void {
    const { type, data } = frame;
    const name = textOf(type) ?? '';
    if (Array.isArray(data)) {
      this.#isWhole = true;
      for (const picture of objectsOf(data)) this.#addPicture(picture, frame, events);
      this.#start(events);
    } else if (name.endsWith('.partial_image')) {
      if (this.#context.showsDrafts !== true) return;
      const base64 = pictureIn(frame.b64_json);
      if (base64 === undefined) return;
      const block = { kind: 'media', ...picture(base64, frame) } as const;
      this.#addBlock({ ...block, isDraft: true }, events);
    } else if (name.endsWith('.completed')) {
      this.#isWhole = true;
      this.#addPicture(frame, frame, events);
    }
  }

  /** Some servers give addresses whatever is asked for, in either field: data URIs hold the picture, others lead to it. */
  #addPicture(given: JsonObject, facts: JsonObject, events: CanonicalEvent[]): void {
    const url = textOf(given.url) ?? '';
    const base64 = pictureIn(given.b64_json) ?? pictureIn(url);
    if (base64 !== undefined) {
      this.#hasAnswer = true;
      const prompt = textOf(given.revised_prompt) || undefined;
      this.#addBlock({ kind: 'media', ...picture(base64, facts), prompt }, events);
    } else if (/^https?:\/\/[^\s<>()]+$/.test(url)) this.#addText(`![image](${url})`, events);
  }

  /** `{text}`, with times where they were asked for, or deltas and the whole text behind them. */
  #readWords(frame: JsonObject, events: CanonicalEvent[]): void {
    const { type, text, delta } = frame;
    if (type === 'transcript.text.delta') {
      this.#addText(textOf(delta) ?? '', events);
      return;
    }
    if (typeof text !== 'string') return;
    if (type !== undefined && type !== 'transcript.text.done') return;
    this.#isWhole = true;
    this.#heard = readHeard(frame);
    const isTimed = this.#context.body?.response_format !== 'json';
    // What is behind the deltas repeats them.
    if (this.#openText === undefined) this.#addText(isTimed ? timedText(frame) : text, events);
    this.#hasAnswer = true;
    this.#start(events);
  }

  /** The sound itself, pieces of it and a last event, or `{audio_data}` (docs.mistral.ai, "Audio & Speech"). */
  #readSound({ type, audio, audio_data: whole, done }: JsonObject): void {
    const piece = textOf(audio) ?? textOf(whole);
    if (piece !== undefined) this.#sound.push(Buffer.from(piece, 'base64'));
    if (type === 'speech.audio.done' || done === true || whole !== undefined) this.#isWhole = true;
  }

  #giveSound(events: CanonicalEvent[]): void {
    const sound = Buffer.concat(this.#sound);
    if (sound.length === 0) return;
    this.#hasAnswer = true;
    const format = textOf(this.#context.body?.response_format) ?? 'mp3';
    const mediaType = format === 'pcm' ? PCM_TYPE : `audio/${format}`;
    this.#addBlock({ kind: 'media', mediaType, base64: sound.toString('base64') }, events);
  }

  #addText(text: string, events: CanonicalEvent[]): void {
    if (text === '') return;
    this.#hasAnswer = true;
    this.#start(events);
    if (this.#openText === undefined) {
      this.#openText = this.#nextIndex;
      this.#nextIndex += 1;
      const index = this.#openText;
      events.push({ kind: 'block-start', index, choice: 0, block: { kind: 'text' } });
    }
    events.push({ kind: 'block-delta', index: this.#openText, delta: { kind: 'text', text } });
  }

  #closeText(events: CanonicalEvent[]): void {
    if (this.#openText === undefined) return;
    events.push({ kind: 'block-end', index: this.#openText });
    this.#openText = undefined;
  }

  #addBlock(block: BlockOpening, events: CanonicalEvent[]): void {
    this.#start(events);
    this.#closeText(events);
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    events.push({ kind: 'block-start', index, choice: 0, block }, { kind: 'block-end', index });
  }

  #start(events: CanonicalEvent[]): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    events.push({ kind: 'start', usage: this.#usage });
  }
}

const DATA_URI = /^data:[\w.+/-]+;base64,/;

/** Undefined for what is no base64. */
function pictureIn(given: JsonValue | undefined): string | undefined {
  return tidyBase64((textOf(given) ?? '').replace(DATA_URI, ''));
}

/** Of its type its bytes tell, else the upstream. */
function picture(base64: string, { output_format, size, quality, background }: JsonObject) {
  const mediaType = sniffMediaType(base64) ?? `image/${textOf(output_format) ?? 'png'}`;
  const told = Object.entries({ size, quality, background }).filter(([, fact]) => textOf(fact));
  const drawnAs: DrawnAs = Object.fromEntries(told);
  return { mediaType, base64, drawnAs };
}

/** As models write it that are asked for it in words: the surfaces read the same form. */
function timedText({ language, duration, segments, words }: JsonObject): string {
  const seconds = readNumber(duration) ?? Number(textOf(duration) ?? 0);
  return JSON.stringify({
    language: language ?? 'unknown',
    duration: Number.isFinite(seconds) ? seconds : 0,
    segments: [...itemsOf(segments)],
    words: [...itemsOf(words)],
  });
}

/** Undefined where nothing is said. */
function readHeard({ usage, languages }: JsonObject): Heard | undefined {
  const seconds = readNumber(objectOf(usage)?.seconds);
  const codes = objectsOf(languages).flatMap(({ code }) => textOf(code) ?? []);
  if (seconds === undefined && codes.length === 0) return undefined;
  return { seconds, ...(codes.length > 0 && { languages: codes }) };
}

/** Those in tokens; some models count seconds instead. */
function usageIn(value: JsonValue | undefined): Usage | undefined {
  const usage = objectOf(value) ?? {};
  const counts = [usage.input_tokens, usage.prompt_tokens, usage.output_tokens];
  return counts.some((count) => readTokenCount(count) !== undefined) ? readUsage(usage) : undefined;
}
