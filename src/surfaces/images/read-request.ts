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
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  ANYTHING,
  BOOLEAN,
  FILLED,
  needed,
  numberIn,
  objectOf,
  openObjectOf,
  STRING,
  type ValueOf,
  wordOf,
} from '../../protocols/body-schema.ts';
import { readInline, readMediaUrl } from '../../protocols/chat/read-messages.ts';
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

const MAX_PICTURES = 16;
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'images', 'mask']);
const MASK_WORDS =
  'The last picture is a mask for the first one: change the first picture only where the mask is ' +
  'transparent, and keep everything else as it is.';

/** The pictures of these fields: first the uploaded ones, then those by address. @throws GatewayError 400 */
function readPictures(
  { body, files = [] }: Pick<RouteInput, 'body' | 'files'>,
  keys: readonly string[],
): readonly MediaPart[] {
  const uploaded = files.filter(({ field }) => keys.includes(field)).map((file) => readFile(file));
  return [...uploaded, ...keys.flatMap((key) => readListed(body, key))];
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

const ADDRESSED = openObjectOf({ image_url: needed(FILLED) });

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
  const url = isJsonObject(value) ? check(value, ADDRESSED, path).value.image_url : value;
  if (typeof url !== 'string') {
    throw wrongType(path, 'a picture as a file, an address or a data URI');
  }
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
  readonly user: string | undefined;
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

const BODY = objectOf(
  {
    ...each(['model', 'prompt', 'size', 'quality', 'imageSize'], STRING),
    response_format: wordOf(['b64_json', 'url'] as const),
    ...each(['image', 'images', 'mask'], ANYTHING),
    user: STRING,
    stream: BOOLEAN,
    n: numberIn({ min: 1, max: 10, integer: true }),
    // Source: `openai` resources/images.d.ts.
    partial_images: numberIn({ min: 0, max: 3, integer: true }),
  },
  ['safety_identifier', 'moderation'],
);
type Body = ValueOf<typeof BODY>;

/** Values of fields without a counterpart that ask for what happens anyway. */
const DEFAULTS = new Set(['auto', 'png', 'opaque', 'low']);

/** What the official clients take for granted when they name no model; routed like any other name. */
const DEFAULT_MODEL = 'gpt-image-1';

/** `POST /v1/images/generations`. @throws GatewayError 400 naming the field */
export function readGeneration({ body, receipt }: RouteInput): ImageRequest {
  return readImages(body, receipt, { kind: 'generation', pictures: [] });
}

/** `POST /v1/images/edits`, as a form or as JSON with pictures by address. @throws GatewayError 400 */
export function readEdit({ body: sent, files = [], receipt }: RouteInput): ImageRequest {
  // A form's empty field says nothing, but for the prompt, which has to be there.
  const said = Object.entries(sent).filter(([key, value]) => value !== '' || key === 'prompt');
  const body = Object.fromEntries(said);
  const pictures = readPictures({ body, files }, ['image', 'images']);
  if (pictures.length > MAX_PICTURES) {
    throw invalidRequest('image', `image may hold at most ${MAX_PICTURES} pictures.`);
  }
  if (pictures.length === 0) throw missingField('image');
  const [mask, another] = readPictures({ body, files }, ['mask']);
  if (another !== undefined) throw invalidRequest('mask', 'mask may hold one picture only.');
  noteFiles(files, receipt);
  const parts: Part[] = [...pictures];
  if (mask !== undefined) {
    receipt.add('approximated', 'mask', told`The mask is shown to the model with an instruction.`);
    parts.push(mask, { kind: 'text', text: MASK_WORDS });
  }
  return readImages(body, receipt, { kind: 'edit', pictures: parts });
}

/** Names the files that belong to no field of an edit. */
function noteFiles(files: readonly UploadedFile[], receipt: Receipt): void {
  for (const field of new Set(files.map((file) => file.field))) {
    if (FILE_FIELDS.has(field)) continue;
    receipt.add('dropped', field, told`An edit has no file called ${field}.`);
  }
}

interface ImageSource {
  readonly kind: ImageSettings['kind'];
  readonly pictures: readonly Part[];
}

function readImages(
  sent: JsonObject,
  receipt: Receipt,
  { kind, pictures }: ImageSource,
): ImageRequest {
  const { value: body, unknown = [] } = check(readFormFields(sent, BODY), BODY, '');
  const { prompt, user } = body;
  if (prompt === undefined || prompt === null) throw missingField('prompt');
  if (prompt.trim() === '') throw invalidRequest('prompt', 'prompt is empty; say what to draw.');
  const count = readNumber(body.n) ?? 1;
  const stream = body.stream ?? false;
  const asked = readNumber(body.partial_images) ?? 0;
  const drafts = stream ? asked : 0;
  if (asked > drafts) {
    receipt.add('dropped', 'partial_images', told`Unfinished images are shown in streams only.`);
  }
  const form = body.response_format ?? 'b64_json';
  if (stream && form === 'url') {
    receipt.add('dropped', 'response_format', told`Streams carry images in base64.`);
  }
  const parts: readonly Part[] = [...pictures, { kind: 'text', text: prompt }];
  const request = readCanonical(body, { parts, imageDrafts: drafts }, receipt);
  const untold = unknown.filter((key) => {
    const value = sent[key];
    return typeof value !== 'string' || !DEFAULTS.has(value.toLowerCase());
  });
  noteUnread(untold, { path: '', receipt });
  const model = plainModelName(body.model ?? '');
  return {
    model: model === '' ? DEFAULT_MODEL : model,
    stream,
    user: user ?? undefined,
    requests: [request, ...Array.from({ length: count - 1 }, () => request)],
    settings: { kind, form, echo: echoOf(body), drafts },
  };
}

function readCanonical(
  { size, quality, imageSize }: Body,
  { parts, imageDrafts }: { readonly parts: readonly Part[]; readonly imageDrafts: number },
  receipt: Receipt,
): CanonicalRequest {
  const fields = {
    size: size ?? undefined,
    quality: quality ?? undefined,
    imageSize: imageSize ?? undefined,
  };
  const image = readImageOptions(fields, { receipt, unknownWord });
  return askOnce(parts, {
    reasoning: { amount: { kind: 'unset' } },
    outputModalities: ['text', 'image'],
    image,
    imageDrafts,
    clientNames: { messages: 'prompt', size: fields.size === undefined ? 'quality' : 'size' },
  });
}

/** Words for a quality that only requests know, as answers say them (`openai` images.d.ts, `ImagesResponse`). */
const ANSWERED_QUALITIES: ReadonlyMap<string, string> = new Map([
  ['standard', 'low'],
  ['hd', 'max'],
]);

/** What was left to the model is left out: whole answers have no word for it. */
function echoOf(body: Body): JsonObject {
  const echo: JsonObject = {};
  for (const key of ['size', 'quality'] as const) {
    const value = body[key];
    if (!value || value === 'auto') continue;
    echo[key] = key === 'quality' ? (ANSWERED_QUALITIES.get(value) ?? value) : value;
  }
  return echo;
}
