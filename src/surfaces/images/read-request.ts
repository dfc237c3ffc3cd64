// Reads image requests: a prompt, or images to edit, with count, ratio and size class.

import { invalidRequest } from '../../canonical/error.ts';
import {
  modalityOf,
  readImageOptions,
  sniffMediaType,
  spellMediaType,
} from '../../canonical/media.ts';
import { plainModelName } from '../../canonical/model.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type { CanonicalRequest, MediaPart, Part } from '../../canonical/request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { objectShape } from '../../protocols/body-schema.ts';
import { readInline, readMediaUrl } from '../../protocols/chat/read-messages.ts';
import {
  createReadContext,
  missingField,
  noteUnreadFields,
  readBoolean,
  readNumberIn,
  readString,
  requireString,
  unknownWord,
  wrongType,
} from '../../protocols/chat/schema.ts';
import type { RouteInput, UploadedFile } from '../../protocols/protocol.ts';

const MAX_PICTURES = 16;
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'images', 'mask']);
const MASK_WORDS =
  'The last picture is a mask for the first one: change the first picture only where the mask is ' +
  'transparent, and keep everything else as it is.';

/** All pictures but the mask, in the client's order. @throws GatewayError 400 */
function readPictures(body: JsonObject, files: readonly UploadedFile[]): readonly MediaPart[] {
  const uploaded = files
    .filter(({ field }) => field === 'image' || field === 'images')
    .map((file) => readFile(file));
  const named = [...readListed(body, 'image'), ...readListed(body, 'images')];
  const pictures = [...uploaded, ...named];
  if (pictures.length <= MAX_PICTURES) return pictures;
  throw invalidRequest('image', `image may hold at most ${MAX_PICTURES} pictures.`);
}

/** The mask with the words that explain it; nothing without one. @throws GatewayError 400 */
function readMask(body: JsonObject, files: readonly UploadedFile[]): readonly Part[] {
  const uploaded = files.filter(({ field }) => field === 'mask').map((file) => readFile(file));
  const masks = [...uploaded, ...readListed(body, 'mask')];
  if (masks.length > 1) throw invalidRequest('mask', 'mask may hold one picture only.');
  const [mask] = masks;
  return mask === undefined ? [] : [mask, { kind: 'text', text: MASK_WORDS }];
}

/** Names the files that belong to no field of an edit. */
function unreadFiles(files: readonly UploadedFile[]): readonly string[] {
  return [...new Set(files.map(({ field }) => field))].filter((field) => !FILE_FIELDS.has(field));
}

/** Clients declare any type at all, so that the declared one counts only where the bytes say nothing. */
function readFile({ field, mediaType: declared, bytes }: UploadedFile): MediaPart {
  if (bytes.length === 0) throw invalidRequest(field, `${field}: the file is empty.`);
  const base64 = bytes.toString('base64');
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared);
  if (modalityOf(mediaType) !== 'image') throw noPicture(field, mediaType);
  return { kind: 'media', modality: 'image', mediaType, source: { kind: 'base64', base64 } };
}

function readListed(body: JsonObject, key: string): readonly MediaPart[] {
  const value = body[key];
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : [value];
  return list.map((item, index) => {
    const path = Array.isArray(value) ? `${key}[${index}]` : key;
    return readAddressed(item, path);
  });
}

/** `{image_url}`, an address or data URI alone, or bare base64. */
function readAddressed(value: JsonValue, path: string): MediaPart {
  if (isJsonObject(value) && (value.file_id ?? null) !== null) {
    throw invalidRequest(
      `${path}.file_id`,
      `${path}.file_id: the gateway stores no files; send the picture itself.`,
      'unsupported',
    );
  }
  const urlPath = isJsonObject(value) ? `${path}.image_url` : path;
  const url = isJsonObject(value) ? requireString(value, 'image_url', path) : value;
  if (typeof url !== 'string')
    throw wrongType(path, 'a picture as a file, an address or a data URI');
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(url.slice(0, 20));
  const { mediaType, source } = isAddress
    ? readMediaUrl(url, urlPath)
    : readInline(url, { declared: '', path: urlPath });
  if (mediaType !== undefined && modalityOf(mediaType) !== 'image') {
    throw noPicture(urlPath, mediaType);
  }
  return { kind: 'media', modality: 'image', mediaType, source };
}

function noPicture(path: string, mediaType: string): Error {
  return invalidRequest(
    path,
    `${path}: a file of type "${mediaType}" is not a picture; send png, jpeg, webp, gif or heic.`,
    'unsupported',
  );
}

export interface ImageRequest {
  readonly model: string;
  readonly stream: boolean;
  /** One for each image; all alike. */
  readonly requests: readonly [CanonicalRequest, ...CanonicalRequest[]];
  readonly settings: ImageSettings;
}

/** What a request settles about the form of its answer. */
export interface ImageSettings {
  readonly kind: 'generation' | 'edit';
  readonly form: 'b64_json' | 'url';
  /** Fields the answer repeats. */
  readonly echo: JsonObject;
  /** How many unfinished images a stream shows at most, of each image. */
  readonly drafts: number;
}

const KNOWN_FIELDS = objectShape([
  ...['model', 'prompt', 'n', 'size', 'quality', 'imageSize', 'response_format', 'stream'],
  ...['user', 'safety_identifier', 'image', 'images', 'mask', 'partial_images', 'moderation'],
]);
/** Values of fields without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Set(['auto', 'png', 'opaque', 'low']);

const FORMS = ['b64_json', 'url'] as const;
const MAX_IMAGES = 10;
/** Source: `openai` resources/images.d.ts, `partial_images`. */
const MAX_DRAFTS = 3;
/** What the official clients take for granted when they name no model; routed like any other name. */
const DEFAULT_MODEL = 'gpt-image-1';

/** `POST /v1/images/generations`. @throws GatewayError 400 naming the field */
export function readGeneration({ body, receipt }: RouteInput): ImageRequest {
  return readImages(body, receipt, { kind: 'generation', pictures: [] });
}

/** `POST /v1/images/edits`, as a form or as JSON with pictures by address. @throws GatewayError 400 */
export function readEdit({ body: sent, files = [], receipt }: RouteInput): ImageRequest {
  const body = withoutEmpty(sent);
  const pictures = readPictures(body, files);
  if (pictures.length === 0) throw missingField('image');
  const mask = readMask(body, files);
  for (const field of unreadFiles(files)) {
    receipt.add('dropped', field, told`An edit has no file called ${field}.`);
  }
  if (mask.length > 0) {
    receipt.add('approximated', 'mask', told`The mask is shown to the model with an instruction.`);
  }
  return readImages(body, receipt, { kind: 'edit', pictures: [...pictures, ...mask] });
}

/** A form's empty field says nothing, but for the prompt, which has to be there. */
function withoutEmpty(body: JsonObject): JsonObject {
  const told = Object.entries(body).filter(([key, value]) => value !== '' || key === 'prompt');
  return Object.fromEntries(told);
}

interface ImageSource {
  readonly kind: ImageSettings['kind'];
  readonly pictures: readonly Part[];
}

function readImages(
  body: JsonObject,
  receipt: Receipt,
  { kind, pictures }: ImageSource,
): ImageRequest {
  const prompt = readString(body, 'prompt');
  if (prompt === undefined) throw missingField('prompt');
  if (prompt.trim() === '') throw invalidRequest('prompt', 'prompt is empty; say what to draw.');
  const count = readCount(body, 'n', { min: 1, max: MAX_IMAGES }) ?? 1;
  const stream = readFlag(body, 'stream');
  const asked = readCount(body, 'partial_images', { min: 0, max: MAX_DRAFTS }) ?? 0;
  const drafts = stream ? asked : 0;
  if (asked > drafts) {
    receipt.add('dropped', 'partial_images', told`Unfinished images are shown in streams only.`);
  }
  const form = readForm(body);
  if (stream && form === 'url') {
    receipt.add('dropped', 'response_format', told`Streams carry images in base64.`);
  }
  const parts: readonly Part[] = [...pictures, { kind: 'text', text: prompt }];
  const request = { ...readCanonical(body, receipt, parts), imageDrafts: drafts };
  noteRest(body, receipt);
  const model = plainModelName(readString(body, 'model') ?? '');
  return {
    model: model === '' ? DEFAULT_MODEL : model,
    stream,
    requests: [request, ...Array.from({ length: count - 1 }, () => request)],
    settings: { kind, form, echo: echoOf(body), drafts },
  };
}

function readCanonical(
  body: JsonObject,
  receipt: Receipt,
  parts: readonly Part[],
): CanonicalRequest {
  const size = readString(body, 'size');
  const image = readImageOptions(
    {
      size,
      quality: readString(body, 'quality'),
      imageSize: readString(body, 'imageSize'),
    },
    { receipt, unknownWord },
  );
  return {
    system: [],
    turns: [{ role: 'user', parts }],
    tools: [],
    toolChoice: { kind: 'auto', names: [] },
    sampling: {},
    stopSequences: [],
    choices: 1,
    reasoning: { amount: { kind: 'unset' } },
    outputFormat: { kind: 'text' },
    outputModalities: ['text', 'image'],
    image,
    safety: [],
    clientNames: { messages: 'prompt', size: size === undefined ? 'quality' : 'size' },
  };
}

/** Forms carry numbers and switches as text. */
function readCount(
  body: JsonObject,
  key: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const value = body[key];
  // A form's empty field says nothing.
  if (value === '') return undefined;
  const number =
    typeof value === 'string' && /^\d{1,3}$/.test(value.trim()) ? Number(value) : value;
  return readNumberIn(number, key, { ...range, integer: true });
}

function readFlag(body: JsonObject, key: string): boolean {
  if (body[key] === 'true') return true;
  if (body[key] === 'false' || body[key] === '') return false;
  return readBoolean(body, key) ?? false;
}

function readForm(body: JsonObject): ImageSettings['form'] {
  const word = readString(body, 'response_format');
  if (word === undefined || word === '') return 'b64_json';
  const form = FORMS.find((known) => known === word);
  if (form === undefined) throw unknownWord('response_format', FORMS);
  return form;
}

function noteRest(body: JsonObject, receipt: Receipt): void {
  const rest = Object.fromEntries(
    Object.entries(body).filter(
      ([, value]) => typeof value !== 'string' || !DEFAULTS.has(value.toLowerCase()),
    ),
  );
  const context = createReadContext(receipt);
  noteUnreadFields(rest, { known: KNOWN_FIELDS, path: '', context });
}

/** Words for a quality that only requests know, as answers say them (`openai` images.d.ts, `ImagesResponse`). */
const ANSWERED_QUALITIES: ReadonlyMap<string, string> = new Map([
  ['standard', 'low'],
  ['hd', 'max'],
]);

/** What was left to the model is left out: whole answers have no word for it. */
function echoOf(body: JsonObject): JsonObject {
  const echo: JsonObject = {};
  for (const key of ['size', 'quality']) {
    const value = body[key];
    if (typeof value !== 'string' || value === '' || value === 'auto') continue;
    echo[key] = key === 'quality' ? (ANSWERED_QUALITIES.get(value) ?? value) : value;
  }
  return echo;
}
