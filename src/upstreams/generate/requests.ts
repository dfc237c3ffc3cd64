// Builds the HTTP requests of the generate-content API for one account, and the bytes of their bodies: media are copied as
// they are, and long texts written in steps.

import type { Receipt } from '../../canonical/receipt.ts';
import { mendText } from '../../canonical/text-forms.ts';
import { isDenseBase64 } from '../../lib/base64.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import {
  ESCAPED_AT_ONCE,
  MIN_ESCAPED_LENGTH,
  PartMarks,
  writeParts,
} from '../../lib/json-parts.ts';
import { itemsOf } from '../../lib/read-values.ts';
import { isShared } from '../../lib/shared-json.ts';
import type { ClientRequest } from '../transport/client.ts';
import type { AccountAccess, UpstreamCall } from '../upstream.ts';
import { encodeJson, postOf } from '../wire-parts.ts';
import type { GenerateProfile, ModelMethod } from './profiles.ts';

/** A POST to one method of one model, with the account's credential and project. */
export function modelRequest(
  profile: GenerateProfile,
  method: ModelMethod,
  call: Omit<UpstreamCall, 'stream'>,
): ClientRequest {
  const { access, body, modelId } = call;
  const path = profile.modelPath(access, modelId, method);
  const project = profile.hasProjectInBody === true ? access.projectId : undefined;
  return {
    ...requestOf(profile, call, path, method === 'streamGenerateContent' ? { alt: 'sse' } : {}),
    ...postOf(call),
    body: project ? { ...body, project } : body,
  };
}

/** A GET with the account's credential. */
export function requestOf(
  profile: GenerateProfile,
  { access, signal }: Pick<UpstreamCall, 'access' | 'signal'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): ClientRequest {
  const all = new URLSearchParams({ ...query, ...profile.authQuery?.(access) });
  return {
    method: 'GET',
    path: all.size === 0 ? path : `${path}?${all}`,
    headers: profile.authHeaders(access),
    proxyUrl: access.proxyUrl,
    secrets: secretsOf(access),
    signal,
  };
}

/** What an upstream was shown of the account. */
export function secretsOf({ credential, projectId }: AccountAccess): readonly string[] {
  return projectId === undefined ? [credential] : [credential, projectId];
}

/** Base64 as long as this is copied: `JSON.stringify` looks at each character for what it must escape. */
const MIN_COPIED_LENGTH = 32_768;

/**
 * Bytes, so that the text is encoded once: a string would be measured first and encoded while writing.
 * What no UTF-8 can say is mended, and noted in the receipt before this returns. Much of media or text
 * takes several turns.
 */
export function encodeBody(
  body: JsonObject,
  receipt?: Receipt,
  isLarge = false,
): Buffer | Promise<Buffer> {
  // Arguments, instructions and tools may be as long as media and texts.
  if (isLarge) return encodeJson(body, receipt, isLarge);
  const characters = countMarkable(body);
  if (characters === undefined) return Buffer.from(mendText(JSON.stringify(body), receipt));
  const marks = new BodyMarks(characters > ESCAPED_AT_ONCE ? MIN_ESCAPED_LENGTH : ESCAPED_AT_ONCE);
  const text = mendText(JSON.stringify(marks.mark(body)), receipt);
  return writeParts(marks.parts(text));
}

/**
 * Characters of the texts of a conversation, which counts what is dear to escape and costs little. Undefined for
 * most bodies: they have no shared tools, no media and no more text than one turn takes.
 */
function countMarkable({ tools, contents }: JsonObject): number | undefined {
  let mayBeMarked = Array.isArray(tools) && isShared(tools);
  let characters = 0;
  for (const content of itemsOf(contents)) {
    for (const part of isJsonObject(content) ? itemsOf(content.parts) : []) {
      if (!isJsonObject(part)) continue;
      if (typeof part.text === 'string') characters += part.text.length;
      mayBeMarked ||= part.inlineData !== undefined || part.functionResponse !== undefined;
    }
  }
  return mayBeMarked || characters > ESCAPED_AT_ONCE ? characters : undefined;
}

/** Puts a short mark in the place of each long medium and text and of the shared list of tools, and what it stands for there again. */
class BodyMarks extends PartMarks {
  readonly #longText: number;

  constructor(longText: number) {
    super();
    this.#longText = longText;
  }

  mark(body: JsonObject): JsonObject {
    let marked = body;
    // Marks are found again in the order in which they are made.
    for (const key in body) {
      if (key === 'tools') marked = this.#markTools(marked);
      if (key === 'contents') marked = this.#markContents(marked);
    }
    return marked;
  }

  #markTools(body: JsonObject): JsonObject {
    const written = writeSharedList(body.tools);
    if (written === undefined) return body;
    return { ...body, tools: this.take({ kind: 'list', text: '', written }) };
  }

  #markContents(body: JsonObject): JsonObject {
    return withItems(body, 'contents', (content) =>
      withItems(content, 'parts', (part) => this.#markPart(part)),
    );
  }

  #markPart(part: JsonObject): JsonObject {
    const { functionResponse, text } = part;
    // A half of a character is mended in the JSON, and told, before anything takes a turn.
    if (typeof text === 'string' && text.length > this.#longText && text.isWellFormed()) {
      return { ...part, text: this.take({ kind: 'text', text }) };
    }
    if (!isJsonObject(functionResponse)) return this.#markBlob(part);
    const marked = withItems(functionResponse, 'parts', (inner) => this.#markBlob(inner));
    return marked === functionResponse ? part : { ...part, functionResponse: marked };
  }

  #markBlob(part: JsonObject): JsonObject {
    const { inlineData } = part;
    if (!isJsonObject(inlineData)) return part;
    const { data } = inlineData;
    const isCopied =
      typeof data === 'string' && data.length >= MIN_COPIED_LENGTH && isDenseBase64(data);
    if (!isCopied) return part;
    return {
      ...part,
      inlineData: { ...inlineData, data: this.take({ kind: 'medium', text: data }) },
    };
  }
}

/** Of the texts of shared lists, together and each, in bytes. */
const MAX_WRITTEN = 8_388_608;
const MAX_WRITTEN_LIST = MAX_WRITTEN / 8;

/** What shared lists are written as; the oldest goes first. */
const writtenLists = new Map<object, Buffer>();
let writtenBytes = 0;

/** Undefined for a list that is not shared, is very long or needs mending. */
function writeSharedList(list: JsonValue | undefined): Buffer | undefined {
  if (!Array.isArray(list) || !isShared(list)) return undefined;
  const known = writtenLists.get(list);
  if (known !== undefined) return known;
  const text = JSON.stringify(list);
  if (text.length > MAX_WRITTEN_LIST || mendText(text, undefined) !== text) return undefined;
  const written = Buffer.from(text);
  writtenLists.set(list, written);
  writtenBytes += written.length;
  for (const [oldest, { length }] of writtenLists) {
    if (writtenBytes <= MAX_WRITTEN) break;
    writtenLists.delete(oldest);
    writtenBytes -= length;
  }
  return written;
}

/** The object with the items of one of its lists changed; the same object when none is. */
function withItems(
  object: JsonObject,
  key: 'contents' | 'parts',
  change: (item: JsonObject) => JsonObject,
): JsonObject {
  const items = object[key];
  if (!Array.isArray(items)) return object;
  let changed: JsonValue[] | undefined;
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item)) continue;
    const next = change(item);
    if (next === item) continue;
    changed ??= [...items];
    changed[index] = next;
  }
  return changed === undefined ? object : { ...object, [key]: changed };
}
