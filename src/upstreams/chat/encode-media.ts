// Writes a canonical request for a model with an endpoint of its own: a prompt to draw, a recording, a text to speak; and
// sends it there.

import { createHash } from 'node:crypto';
import { invalidRequest } from '../../canonical/error.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type {
  CanonicalRequest,
  ImageOptions,
  MediaPart,
  Part,
  Turn,
} from '../../canonical/request.ts';
import { mendText } from '../../canonical/text-forms.ts';
import {
  definedFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  writtenValue,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { itemsOf } from '../read-values.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { EncodeTarget, UpstreamCall } from '../upstream.ts';
import { addressOf } from './encode.ts';
import type { ImageModels, MediaModel, SpeechModels, TranscriptionModels } from './media-models.ts';
import type { ChatPaths, ChatProfile } from './profiles.ts';
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
  if (request.cachedContent !== undefined) {
    const message = 'cached_content: the cache of another upstream cannot be read here.';
    throw invalidRequest('cached_content', message, 'unsupported');
  }
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
  const instructions = textOf([...system, ...turns.filter(isInstruction).flatMap(partsOf)]);
  const said = textOf(parts);
  const text = [instructions, said].filter((one) => one !== '').join('\n\n');
  return { parts, text, instructions };
}

const isInstruction = ({ role }: Turn): boolean => role === 'system';
const partsOf = ({ parts }: Turn): readonly Part[] => parts;

function textOf(parts: readonly Part[]): string {
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
  const { receipt, modelId } = target;
  const { parts, text } = readAsked(request, target);
  if (text.trim() === '') {
    throw invalidRequest('messages', 'messages: this model draws; say what to draw.');
  }
  const pictures = picturesOf(parts, request.turns);
  const drafts = request.imageDrafts ?? 0;
  if (drafts > 0 && !traits.streams) {
    receipt.add('dropped', 'partial_images', told`This model shows no unfinished pictures.`);
  }
  const fields = {
    model: modelId,
    prompt: text,
    size: sizeOf(request.image, traits, target),
    quality: qualityOf(request.image, traits, target),
    response_format: traits.takesFormat ? 'b64_json' : undefined,
    partial_images: drafts > 0 && traits.streams ? drafts : undefined,
  };
  if (pictures.length === 0) return bodyFor('images/generations', fields);
  if (!traits.edits) {
    const message = 'image: this model draws from words alone; send the prompt without a picture.';
    throw invalidRequest('image', message, 'unsupported');
  }
  const [masks, images] = [pictures.filter(isMask), pictures.filter((one) => !isMask(one))];
  return bodyFor('images/edits', {
    ...fields,
    image: images.map(dataUri),
    mask: masks[0] && dataUri(masks[0]),
  });
}

const isMask = ({ isMask: is }: MediaPart): boolean => is === true;

/** Those of the last turn; a dialogue goes on with the picture drawn last. */
function picturesOf(parts: readonly Part[], turns: readonly Turn[]): readonly MediaPart[] {
  const given = parts.filter(isPicture);
  if (given.length > 0) return given;
  const drawn = turns.findLast(({ role }) => role === 'assistant');
  return partsOf(drawn ?? { role: 'user', parts: [] })
    .filter(isPicture)
    .slice(-1);
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
  const { pixels, aspectRatio, size } = image ?? {};
  if (pixels === undefined && aspectRatio === undefined && size === undefined) return undefined;
  if (sizes === 'none') {
    receipt.add('dropped', 'size', told`This model draws in a size of its own.`);
    return undefined;
  }
  // A word for the quality is no size.
  const area = AREAS[(image?.quality === undefined ? size : undefined) ?? '1K'];
  const wanted = pixels === undefined ? ofRatio(aspectRatio ?? '1:1', area) : sidesOf(pixels);
  const found = sizes === 'any' ? onGrid(wanted) : nearest(wanted, sizes);
  if (found === (pixels ?? found) && (sizes === 'any' || size === undefined)) return found;
  receipt.add('approximated', 'size', told`This model draws it as ${found}.`);
  return found;
}

interface Sides {
  readonly width: number;
  readonly height: number;
}

function sidesOf(pixels: string): Sides {
  const [width = 1, height = 1] = pixels.split('x').map(Number);
  return { width, height };
}

function ofRatio(ratio: string, area: number): Sides {
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  const unit = Math.sqrt(area / (across * down));
  return { width: across * unit, height: down * unit };
}

function onGrid({ width, height }: Sides): string {
  const multiple = (side: number): number => Math.max(1, Math.round(side / GRID)) * GRID;
  return `${multiple(width)}x${multiple(height)}`;
}

/** Of equal form the one nearest in size. */
function nearest(wanted: Sides, sizes: readonly string[]): string {
  const distance = (size: string): number => {
    const { width, height } = sidesOf(size);
    const form = Math.abs(Math.log(width / height) - Math.log(wanted.width / wanted.height));
    const area = Math.abs(Math.log(width * height) - Math.log(wanted.width * wanted.height));
    return form * 100 + area;
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
    receipt.add('dropped', 'messages', told`This model writes recordings down and reads no words.`);
  }
  const { task = 'transcribe', times = 'nothing', languages = [] } = transcription ?? {};
  if (task === 'translate' && !traits.translates) {
    const message =
      'This model does not translate; name one that does, or ask for a transcription.';
    throw invalidRequest('model', message, 'unsupported');
  }
  const isTimed = times !== 'nothing';
  if (isTimed && !traits.tellsTimes) {
    const message = 'response_format: this model tells no times; ask for json or text.';
    throw invalidRequest('response_format', message, 'unsupported');
  }
  const fields = {
    model: modelId,
    file: dataUri(sound),
    response_format: isTimed ? 'verbose_json' : 'json',
    temperature: request.sampling.temperature,
    ...hintsOf(transcription, traits),
  };
  if (task === 'translate') {
    if (languages.length > 0) {
      receipt.add('dropped', 'language', told`The endpoint finds out the language itself.`);
    }
    const { language: _language, languages: _languages, ...rest } = fields;
    return bodyFor('audio/translations', rest);
  }
  if (languages.length > 1 && !traits.takesLists) {
    receipt.add('approximated', 'languages', told`The first of the languages was told.`);
  }
  return bodyFor('audio/transcriptions', {
    ...fields,
    timestamp_granularities: times === 'words' ? ['word', 'segment'] : undefined,
  });
}

/** What may be spoken, in the fields there are. */
function hintsOf(
  transcription: CanonicalRequest['transcription'],
  { takesLists }: TranscriptionModels,
): {
  readonly prompt?: string;
  readonly language?: string;
  readonly languages?: readonly string[];
  readonly keywords?: readonly string[];
} {
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
  const input = textOf(asked.parts);
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
  const boundary = `isthmus-${hash.digest('hex')}`;
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

/** Lists as the official client names them: `name[]`. */
function textFields(fields: JsonObject): FormField[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((item) => ({ name: `${name}[]`, value: writtenValue(item) }))
      : [{ name, value: writtenValue(value) }],
  );
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
