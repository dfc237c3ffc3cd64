// The image routes of the OpenAI-style protocol: what they read and answer (`openai` resources/images.d.ts).

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import type { CanonicalEvent, DrawnAs } from '../canonical/event.ts';
import { fold, type Reply } from '../canonical/fold.ts';
import { readImageDetails, readImageOptions } from '../canonical/image-options.ts';
import { modalityOf, sniffMediaType, spellMediaType } from '../canonical/media.ts';
import { plainModelName } from '../canonical/model.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { MediaPart, Part } from '../canonical/request.ts';
import { blockMessage } from '../canonical/text-forms.ts';
import { outputTokens, type Usage } from '../canonical/usage.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
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
} from '../protocols/body-schema.ts';
import { STREAM } from '../protocols/chat/answer-parts.ts';
import { writeImageErrorBody } from '../protocols/chat/errors.ts';
import { readMedia } from '../protocols/chat/read-messages.ts';
import {
  check,
  DETAILS_OF_DRAWING,
  each,
  missingField,
  noteUnread,
  unknownWord,
  unsupported,
  wrongType,
} from '../protocols/chat/schema.ts';
import type { GenerateCall, RouteInput, UploadedFile } from '../protocols/protocol.ts';
import type { ReplyContext, StreamWriter } from '../protocols/writers.ts';
import { eventFrame } from '../stream/sse.ts';
import { askOnce, readFormFields, rejected, writeTokens } from './requests.ts';

/** What a request settles about the form of its answer. */
interface ImageSettings {
  readonly kind: 'generation' | 'edit';
  readonly form: 'b64_json' | 'url';
  /** Fields the answer repeats where the upstream does not say how it drew, and the receipt not that it drew otherwise. */
  readonly echo: () => JsonObject;
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
    ...DETAILS_OF_DRAWING,
  },
  ['safety_identifier'],
);
type Body = ValueOf<typeof BODY>;

/** What the official clients take for granted when they name no model; routed like any other name. */
const DEFAULT_MODEL = 'gpt-image-1';

/** `POST /v1/images/generations`. @throws GatewayError 400 naming the field */
export function readGenerationCall({ body, receipt }: RouteInput): GenerateCall {
  return readCall(body, 'generation', { pictures: [], receipt });
}

const MAX_PICTURES = 16;
const FILE_FIELDS: ReadonlySet<string> = new Set(['image', 'images', 'mask']);

/** `POST /v1/images/edits`, as a form or as JSON with pictures by address. @throws GatewayError 400 */
export function readEditCall({ body: sent, files = [], receipt }: RouteInput): GenerateCall {
  // A form's empty field says nothing, but for the prompt, which has to be there.
  const said = Object.entries(sent).filter(([key, value]) => value !== '' || key === 'prompt');
  const body = Object.fromEntries(said);
  const pictures = readPictures({ body, files }, ['image', 'images']);
  // Forms call the field `image`, JSON `images`.
  const asked = 'images' in sent ? 'images' : 'image';
  if (pictures.length > MAX_PICTURES) {
    throw invalidRequest(asked, `${asked} may hold at most ${MAX_PICTURES} pictures.`);
  }
  if (pictures.length === 0) throw missingField(asked);
  const [mask, another] = readPictures({ body, files }, ['mask']);
  if (another !== undefined) throw invalidRequest('mask', 'mask may hold one picture only.');
  for (const field of new Set(files.map((file) => file.field))) {
    if (FILE_FIELDS.has(field)) continue;
    receipt.add('dropped', field, told`An edit has no file called ${field}.`);
  }
  const parts: Part[] = [...pictures];
  if (mask !== undefined) parts.push({ ...mask, isMask: true });
  return readCall(body, 'edit', { pictures: parts, receipt });
}

/** @throws GatewayError 400 always: no upstream varies a picture without being told how */
export function refuseVariations(): never {
  throw invalidRequest(
    'image',
    'Variations without a prompt are not available; send the picture to /v1/images/edits with a ' +
      'prompt that says what to change.',
    'unsupported',
  );
}

/** Several images are several calls: the models that draw give one at a time. */
function readCall(
  sent: JsonObject,
  kind: ImageSettings['kind'],
  { pictures, receipt }: { readonly pictures: readonly Part[]; readonly receipt: Receipt },
): GenerateCall {
  const { value: body, unknown = [] } = check(readFormFields(sent, BODY), BODY, '');
  const { prompt } = body;
  if (prompt === undefined || prompt === null) throw missingField('prompt');
  if (prompt.trim() === '') throw invalidRequest('prompt', 'prompt is empty; say what to draw.');
  const count = readNumber(body.n) ?? 1;
  const stream = body.stream ?? false;
  const asked = readNumber(body.partial_images) ?? 0;
  const drafts = stream ? asked : 0;
  if (asked > drafts) {
    receipt.add('dropped', 'partial_images', told`Partial images are sent in streams only.`);
  }
  const form = body.response_format ?? 'b64_json';
  if (stream && form === 'url') {
    receipt.add('dropped', 'response_format', told`Streams carry images in base64.`);
  }
  const request = askOnce([...pictures, { kind: 'text', text: prompt }], {
    reasoning: { amount: { kind: 'unset' } },
    outputModalities: ['text', 'image'],
    image: readImageOptions(body, { receipt, unknownWord }),
    imageDetails: readImageDetails(body, ''),
    imageDrafts: drafts,
    clientNames: {
      messages: 'prompt',
      modalities: 'model',
      size: (body.size ?? null) === null ? 'quality' : 'size',
    },
  });
  noteUnread(unknown, { path: '', receipt });
  const settings: ImageSettings = { kind, form, echo: () => echoOf(body, receipt), drafts };
  const requests = Array.from({ length: count }, () => request);
  return {
    protocol: 'chat',
    model: plainModelName(body.model ?? '') || DEFAULT_MODEL,
    stream,
    bodySession: body.user ?? undefined,
    request,
    fanOut:
      count === 1
        ? undefined
        : {
            requests,
            takesPartial: true,
            isStreamedApart: true,
            check: (reply) => writePictures(reply, form),
          },
    createStreamWriter: (context) => createImageWriter(context, settings),
    writeReply(reply, { createdAt }) {
      const [first] = drawingsOf(reply);
      return {
        created: createdAt,
        data: writePictures(reply, form),
        ...settings.echo(),
        ...(first !== undefined && { ...first.drawnAs, output_format: formatOf(first) }),
        usage: { ...writeUsage(reply.usage, settings), ...writeOutputDetails(reply.usage) },
      };
    },
  };
}

/** Words for a quality that only requests know, as answers say them (`openai` images.d.ts, `ImagesResponse`). */
const ANSWERED_QUALITIES: ReadonlyMap<string, string> = new Map([
  ['standard', 'low'],
  ['hd', 'max'],
]);

/** What was left to the model is left out: whole answers have no word for it. */
function echoOf(body: Body, { entries }: Receipt): JsonObject {
  const echo: JsonObject = {};
  for (const key of ['size', 'quality'] as const) {
    const value = body[key];
    if (!value || value === 'auto' || entries.some(({ path }) => path === key)) continue;
    echo[key] = key === 'quality' ? (ANSWERED_QUALITIES.get(value) ?? value) : value;
  }
  return echo;
}

/** The pictures of these fields: first the uploaded ones, then those by address. @throws GatewayError 400 */
function readPictures(
  { body, files = [] }: Pick<RouteInput, 'body' | 'files'>,
  keys: readonly string[],
): readonly MediaPart[] {
  const uploaded = files.filter(({ field }) => keys.includes(field)).map((file) => readFile(file));
  const addressed = keys.flatMap((key) => {
    const value = body[key] ?? '';
    if (Array.isArray(value)) return value.map((item, at) => readAddressed(item, `${key}[${at}]`));
    return value === '' ? [] : [readAddressed(value, key)];
  });
  return [...uploaded, ...addressed];
}

/** Clients declare any type at all, so that the declared one counts only where the bytes say nothing. */
function readFile({ field, mediaType: declared, bytes }: UploadedFile): MediaPart {
  if (bytes.length === 0) throw invalidRequest(field, `${field}: the file is empty.`);
  const base64 = bytes.toString('base64');
  const mediaType = sniffMediaType(base64) ?? spellMediaType(declared);
  if (modalityOf(mediaType) !== 'image') throw noPicture(field, mediaType);
  return { kind: 'media', modality: 'image', mediaType, source: { kind: 'base64', base64 } };
}

const ADDRESSED = openObjectOf({ image_url: needed(FILLED) });

/** `{image_url}`, an address or data URI alone, or bare base64. */
function readAddressed(value: JsonValue, path: string): MediaPart {
  if (isJsonObject(value) && (value.file_id ?? null) !== null) {
    throw unsupported(`${path}.file_id`, 'the gateway stores no files; send the picture itself.');
  }
  const urlPath = isJsonObject(value) ? `${path}.image_url` : path;
  const url = isJsonObject(value) ? check(value, ADDRESSED, path).value.image_url : value;
  if (typeof url !== 'string') {
    throw wrongType(path, 'a picture as a file, an address or a data URI');
  }
  const { mediaType, source } = readMedia(url, urlPath);
  if (mediaType !== undefined && modalityOf(mediaType) !== 'image') {
    throw noPicture(urlPath, mediaType);
  }
  return { kind: 'media', modality: 'image', mediaType, source };
}

function noPicture(path: string, mediaType: string): Error {
  const text = `a file of type "${mediaType}" is not a picture; send png, jpeg, webp, gif or heic.`;
  return unsupported(path, text);
}

interface Drawing {
  readonly mediaType: string;
  readonly base64: string;
  readonly prompt?: string | undefined;
  readonly drawnAs?: DrawnAs | undefined;
}

/**
 * A picture that its service keeps is a link that is all of the answer; where that was asked for, its address is given.
 * @throws GatewayError when the model drew nothing, saying what it said instead
 */
function writePictures(reply: Reply, form: ImageSettings['form']): JsonObject[] {
  const drawings = drawingsOf(reply);
  if (drawings.length > 0) {
    return drawings.map(({ mediaType, base64, prompt }) => ({
      ...(form === 'url' ? { url: `data:${mediaType};base64,${base64}` } : { b64_json: base64 }),
      ...(prompt !== undefined && { revised_prompt: prompt }),
    }));
  }
  const links = linksIn(reply);
  if (form !== 'url' || links.length === 0) throw notHeld(reply);
  return links.map((url) => ({ url }));
}

/** Addresses that are all of the answer. */
function linksIn(reply: Reply): readonly string[] {
  const words = wordsOf(reply);
  if (words.replace(LINKED, '').trim() !== '') return [];
  return [...words.matchAll(LINKED)].flatMap(([, url]) => url ?? []);
}

const LINKED = /!\[image\]\((https?:\/\/[^\s()<>]+)\)/g;

/**
 * Unfinished images as they come, as many of each image as were asked for; one `completed` event an
 * image when all are there.
 */
function createImageWriter({ createdAt }: ReplyContext, settings: ImageSettings): StreamWriter {
  const events: CanonicalEvent[] = [];
  /** Unfinished images shown so far, by choice. */
  const shown = new Map<number, number>();
  /** Both kinds of event carry the same facts (`ImageGenCompletedEvent`, `ImageGenPartialImageEvent`). */
  const frame = (
    what: 'partial_image' | 'completed',
    drawing: Drawing,
    rest: JsonObject,
  ): string => {
    const type = `${settings.kind === 'edit' ? 'image_edit' : 'image_generation'}.${what}`;
    const fields = {
      type,
      b64_json: drawing.base64,
      created_at: createdAt,
      background: 'auto',
      quality: 'auto',
      size: 'auto',
      ...settings.echo(),
      ...drawing.drawnAs,
      output_format: formatOf(drawing),
      ...rest,
    };
    return eventFrame(type, JSON.stringify(fields));
  };
  const showDraft = (drawing: Drawing, choice: number): string => {
    const index = shown.get(choice) ?? 0;
    if (index >= settings.drafts) return '';
    shown.set(choice, index + 1);
    return frame('partial_image', drawing, { partial_image_index: index });
  };
  const finish = (): string => {
    const reply = fold(events);
    const drawings = drawingsOf(reply);
    if (drawings.length === 0) return writeFailure(notHeld(reply));
    const usage = writeUsage(reply.usage, settings);
    return drawings.map((drawing) => frame('completed', drawing, { usage })).join('');
  };
  const write = (event: CanonicalEvent): string => {
    if (event.kind === 'error') return writeFailure(event.error);
    const block = event.kind === 'block-start' ? event.block : undefined;
    if (event.kind !== 'block-start' || block?.kind !== 'media' || block.isDraft !== true) {
      events.push(event);
      return event.kind === 'finish' ? finish() : '';
    }
    // Its place in the answer is kept, its bytes are not.
    events.push({ ...event, block: { ...block, base64: '' } });
    return showDraft(block, event.choice);
  };
  return { ...STREAM, write };
}

function writeFailure(error: GatewayError): string {
  return eventFrame('error', JSON.stringify({ type: 'error', ...writeImageErrorBody(error) }));
}

function drawingsOf(reply: Reply): readonly Drawing[] {
  return reply.choices.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.kind === 'media' && block.isDraft !== true && block.mediaType.startsWith('image/')
        ? [block]
        : [],
    ),
  );
}

function formatOf({ mediaType }: Drawing): string {
  return mediaType.slice('image/'.length);
}

/** What part of the input was text is known where there was nothing else, or where the upstream says. */
function writeUsage(usage: Usage, { kind }: ImageSettings): JsonObject {
  const tokens = writeTokens(usage);
  const image = kind === 'generation' ? 0 : usage.media?.image;
  if (image === undefined) return tokens;
  const text_tokens = Math.max(0, tokens.input_tokens - image);
  return { ...tokens, input_tokens_details: { text_tokens, image_tokens: image } };
}

/** Streams have no place for them. */
function writeOutputDetails(usage: Usage): JsonObject {
  if (usage.answerMedia === undefined) return {};
  const { image } = usage.answerMedia;
  const text_tokens = Math.max(0, outputTokens(usage) - image);
  return { output_tokens_details: { image_tokens: image, text_tokens } };
}

function wordsOf({ choices }: Reply): string {
  return choices
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'text' ? block.text : [])))
    .join(' ')
    .trim();
}

/** Of an answer that holds no picture itself. */
function notHeld(reply: Reply): GatewayError {
  const [first] = linksIn(reply);
  if (first === undefined) return nothingDrawn(reply);
  const message = `response_format: the upstream gives its picture by address alone, ${first}; ask for "url" without a stream.`;
  return rejected('response_format', message);
}

const MAX_QUOTED = 300;

function nothingDrawn(reply: Reply): GatewayError {
  const refused = reply.choices.find(
    ({ end }) => end.reason === 'safety' || end.reason === 'prompt-blocked',
  );
  if (refused !== undefined) {
    const because = blockMessage(refused.end);
    const told = because === undefined ? '' : ` ${because.text}`;
    const message = `The model refused to draw this; change the prompt.${told}`;
    return rejected('prompt', message, 'content-policy');
  }
  const words = wordsOf(reply);
  const said = words === '' ? '' : ` It said: ${words.slice(0, MAX_QUOTED)}`;
  return rejected('prompt', `The model answered without an image.${said}`);
}
