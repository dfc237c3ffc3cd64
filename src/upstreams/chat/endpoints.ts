// The endpoints of this wire for pictures, recordings and speech: where a body for one goes, and how it is sent.

import { createHash } from 'node:crypto';
import type { Receipt } from '../../canonical/receipt.ts';
import { mendText } from '../../canonical/text-forms.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  writtenValue,
} from '../../lib/json.ts';
import { itemsOf } from '../read-values.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { UpstreamCall } from '../upstream.ts';
import type { MediaModel } from './media-models.ts';
import type { ChatPaths, ChatProfile } from './profiles.ts';
import { postRequest } from './queries.ts';

/** In the vocabulary of the public API; the paths are the profile's. */
export type MediaEndpoint =
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
