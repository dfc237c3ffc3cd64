// Reads `system` and `messages` into system parts and turns, faithfully: nothing is merged or repaired.

import { type CacheHint, readCacheHint } from '../../canonical/cache-hint.ts';
import type { Effort } from '../../canonical/effort.ts';
import { modalityOf, spellMediaType, splitInlineImages } from '../../canonical/media.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type {
  MediaPart,
  MediaSource,
  Part,
  TextPart,
  ToolResultContent,
  Turn,
} from '../../canonical/request.ts';
import { readCarrier } from '../../canonical/signatures.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import { isJsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { findSummary, type Summary } from './read-reasoning.ts';
import {
  isServerResult,
  readServerResult,
  readToolChange,
  type ToolChange,
  toolAvailable,
} from './read-tools.ts';
import {
  type Block,
  type BlockOf,
  type Body,
  bracketPath,
  fieldError,
  type Message,
  note,
  type Scope,
  unknownTag,
  unknownWord,
} from './schema.ts';

/** The conversation as far as it is read. */
interface Conversation {
  readonly system: TextPart[];
  readonly turns: Turn[];
  /** The effort a system message asks for in the current turn. */
  turnEffort: Effort | undefined;
  /** What becomes of the declared tools on the way, in order. */
  readonly toolChanges: ToolChange[];
}

/** @throws GatewayError naming the field by its dotted path. */
export function readConversation({ system, messages }: Body, receipt: Receipt): Conversation {
  const draft: Conversation = {
    system: system ? readSystem(system) : [],
    turns: [],
    turnEffort: undefined,
    toolChanges: [],
  };
  let lastUser: number | undefined;
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    switch (message.role) {
      case 'user':
      case 'assistant':
        addTurn({ value: message, path }, draft, receipt);
        break;
      case 'system':
        lastUser ??= messages.findLastIndex(({ role }) => role === 'user');
        addInstruction({ value: message, path }, draft, index < lastUser);
        break;
      default:
        throw unknownWord(`${path}.role`, ['user', 'assistant', 'system']);
    }
  }
  if (draft.turns.length > 0) return draft;
  throw fieldError('messages', 'at least one message is required');
}

function readSystem(system: NonNullable<Body['system']>): TextPart[] {
  if (typeof system === 'string') return [{ kind: 'text', text: system }];
  return system.map((block, index) => {
    if (block.type === 'text') return readText(block);
    throw unknownTag(block, `system.${index}`, "'text'");
  });
}

/** Source: SDK `resources/beta/messages/messages.d.ts`, BetaSystemMessageParam. */
function addInstruction(
  { value, path }: Scope<Extract<Message, { role: 'system' }>>,
  draft: Conversation,
  isFollowed: boolean,
): void {
  const { content, clear_at, output_config } = value;
  draft.turnEffort = output_config?.effort ?? draft.turnEffort;
  if (!content) return;
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const read = blocks.map((block, index): TextPart => {
    if (block.type === 'text') return readText(block);
    const at = `${path}.content.${index}`;
    if (block.type !== 'tool_addition' && block.type !== 'tool_removal') {
      throw unknownTag(block, at, "'text', 'tool_addition' or 'tool_removal'");
    }
    const { text, change } = readToolChange(block, at);
    if (change !== undefined) draft.toolChanges.push(change);
    return { kind: 'text', text };
  });
  // A later user message ends such an instruction.
  const parts = clear_at === 'next_user_message' && isFollowed ? [] : read;
  if (draft.turns.length === 0) for (const part of parts) draft.system.push(part);
  else if (parts.length > 0) draft.turns.push({ role: 'system', parts });
}

function addTurn(
  { value, path }: Scope<Exclude<Message, { role: 'system' }>>,
  draft: Conversation,
  receipt: Receipt,
): void {
  const { role, content, output_config } = value;
  // The protocol has it on system messages only.
  if (output_config !== undefined && output_config !== null) {
    const reason = told`Only a system message says how its turn is answered.`;
    note(receipt, 'dropped', `${path}.output_config`, reason);
  }
  if (typeof content === 'string') {
    draft.turns.push({ role, parts: splitInlineImages({ kind: 'text', text: content }) });
    if (role === 'user') draft.turnEffort = undefined;
    return;
  }
  const summary = role === 'assistant' ? findSummary(content, path) : undefined;
  if (summary !== undefined) startFrom(summary, draft);
  const parts: Part[] = [];
  for (const [index, block] of content.entries()) {
    if (summary !== undefined && index < summary.end) continue;
    const at = `${path}.content.${index}`;
    parts.push(...readBlock({ value: block, path: at }, role, receipt));
  }
  if (summary !== undefined && parts.length === 0) return;
  if (role === 'user' && parts.some((part) => part.kind !== 'tool-result')) {
    draft.turnEffort = undefined;
  }
  draft.turns.push({ role, parts });
}

/**
 * What a summary stands for is no longer part of the conversation, as for the real service. It is
 * the user's word: it may be all there is to answer.
 */
function startFrom({ text, toolChanges }: Summary, draft: Conversation): void {
  draft.turns.splice(0, draft.turns.length, { role: 'user', parts: [{ kind: 'text', text }] });
  if (toolChanges === undefined) return;
  draft.toolChanges.splice(0, draft.toolChanges.length, ...toolChanges);
}

const BLOCKS =
  "'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use' or 'tool_result'";
const RESULT_BLOCKS = "'text', 'image', 'document', 'search_result' or 'tool_reference'";

function readText({ text, cache_control }: Omit<BlockOf<'text'>, 'type'>): TextPart {
  return { kind: 'text', text: text ?? '', ...cacheHint(cache_control) };
}

/** `{cacheHint: …}` for a block with `cache_control`, else nothing. */
function cacheHint(control: BlockOf<'text'>['cache_control']): { readonly cacheHint?: CacheHint } {
  const hint = readCacheHint(control ?? undefined);
  return hint === undefined ? {} : { cacheHint: hint };
}

/** Blocks that messages of one role alone can hold. */
const OWNERS: ReadonlyMap<Block['type'], Turn['role']> = new Map([
  ['tool_result', 'user'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_use', 'assistant'],
  ['server_tool_use', 'assistant'],
  ['mcp_tool_use', 'assistant'],
]);

function readBlock(
  { value, path }: Scope<Block>,
  role: Turn['role'],
  receipt: Receipt,
): readonly Part[] {
  noteCitations(value, path, receipt);
  const owner = OWNERS.get(value.type) ?? role;
  if (owner !== role) {
    throw fieldError(path, `\`${value.type}\` blocks can only be in \`${owner}\` messages`);
  }
  switch (value.type) {
    case 'text':
      return splitInlineImages(readText(value));
    case 'image':
    case 'document':
    case 'search_result':
      return readMaterial(value, path);
    case 'tool_result': {
      const { tool_use_id: callId, is_error: isError, cache_control } = value;
      const result = {
        ...{ kind: 'tool-result' as const, callId, isError: isError ?? false },
        content: readResultContent(value.content, `${path}.content`, receipt),
        path: bracketPath(path),
      };
      return [{ ...result, ...cacheHint(cache_control) }];
    }
    case 'thinking':
      return [
        // Some clients leave out what is empty.
        { kind: 'thinking', text: value.thinking ?? '', signature: readCarrier(value.signature) },
      ];
    case 'redacted_thinking':
      return [{ kind: 'redacted-thinking', payload: value.data }];
    case 'tool_use': {
      const { id, name, input, signature } = value;
      const carried = readCarrier(signature);
      return [{ kind: 'tool-call', id, name, input: input ?? {}, signature: carried }];
    }
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const { id, name, input } = value;
      return [{ kind: 'server-tool-call', id, name, input: input ?? {} }];
    }
    // The others are of other servers' answers: they come back in history and are never refused there.
    case 'compaction':
      if (typeof value.content === 'string') {
        return [{ kind: 'text', text: value.content, ...cacheHint(value.cache_control) }];
      }
      note(receipt, 'dropped', path, told`The summary can be read by its issuer only.`);
      return [];
    case 'container_upload':
    case 'fallback':
    case 'mcp_tool_listing':
      note(receipt, 'dropped', path, told`${value.type} blocks mean nothing here.`);
      return [];
    default:
      if (isServerResult(value)) return [readServerResult(value, path)];
      throw unknownTag(value, path, BLOCKS);
  }
}

function readResultContent(
  content: BlockOf<'tool_result'>['content'],
  parent: string,
  receipt: Receipt,
): readonly ToolResultContent[] {
  if (typeof content === 'string') return [plainText(content)];
  return (content ?? []).flatMap((block, index): readonly ToolResultContent[] => {
    const path = `${parent}.${index}`;
    noteCitations(block, path, receipt);
    switch (block.type) {
      case 'text':
        return [plainText(block.text ?? '')];
      case 'image':
      case 'document':
      case 'search_result':
        return readMaterial(block, path).map((part) =>
          part.kind === 'text' ? plainText(part.text) : part,
        );
      case 'tool_reference':
        return [plainText(toolAvailable(block.tool_name))];
      case 'browser_state':
        return [plainText(JSON.stringify(block))];
      default:
        throw unknownTag(block, path, RESULT_BLOCKS);
    }
  });
}

/** A list is what an earlier answer cited, `{enabled: true}` the wish that the next one cites. */
function noteCitations(block: object, path: string, receipt: Receipt): void {
  const citations = 'citations' in block ? block.citations : undefined;
  const isWish = isJsonObject(citations) && citations.enabled === true;
  if (!isWish && !(Array.isArray(citations) && citations.length > 0)) return;
  const reason = isWish
    ? told`The upstream cites what it finds in a search, not what it is given.`
    : told`What an earlier answer cited is not sent upstream.`;
  note(receipt, 'dropped', `${path}.citations`, reason);
}

function plainText(text: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text };
}

/** What a block of the prompt's own content can become. */
type ContentPart = TextPart | MediaPart;

const PDF = 'application/pdf';

/** What the prompt brings along, in a message or in a result. */
function readMaterial(
  block: BlockOf<'image' | 'document' | 'search_result'>,
  path: string,
): readonly ContentPart[] {
  switch (block.type) {
    case 'image':
      return [readImage(block, path)];
    case 'document':
      return readDocument(block, path);
    case 'search_result': {
      const passages = (block.content ?? []).map(({ text }) => text);
      const text = underHeading(`${block.title}\n${block.source}`, passages.join('\n'));
      return [{ kind: 'text', text, ...cacheHint(block.cache_control) }];
    }
    default:
      return block satisfies never;
  }
}

/** The 400 for a source nobody here can read. */
function unknownSource(source: { readonly type: string }, path: string, known: string): Error {
  if (source.type !== 'file') return unknownTag(source, path, known);
  const text = 'Files cannot be stored here; send the content as base64 or as text';
  return fieldError(`${path}.type`, text, 'unsupported');
}

/** An `image` block: base64 or an https address. */
function readImage({ source, cache_control }: BlockOf<'image'>, block: string): MediaPart {
  const path = `${block}.source`;
  const hint = cacheHint(cache_control);
  switch (source.type) {
    case 'base64': {
      const mediaType = spellMediaType(source.media_type);
      if (modalityOf(mediaType) !== 'image') {
        const text = "Input should be the type of a picture, such as 'image/png'";
        throw fieldError(`${path}.media_type`, text);
      }
      const read = readBase64(source.data, path);
      return { kind: 'media', modality: 'image', mediaType, source: read, ...hint };
    }
    case 'url':
      return { kind: 'media', modality: 'image', source: addressOf(source.url, path), ...hint };
    default:
      throw unknownSource(source, path, "'base64' or 'url'");
  }
}

/**
 * A `document` block: a PDF stays media, everything else is text. Title and context are for the model to read,
 * so they stand before either as text: the upstream has no field for them.
 */
function readDocument(document: BlockOf<'document'>, block: string): readonly ContentPart[] {
  const { source, title, context, cache_control } = document;
  const path = `${block}.source`;
  const heading = [title, context].filter(Boolean).join('\n');
  const hint = cacheHint(cache_control);
  const pdf = { kind: 'media', modality: 'document', mediaType: PDF, ...hint } as const;
  switch (source.type) {
    case 'base64':
      if ((source.media_type ?? PDF).toLowerCase() !== PDF) {
        throw fieldError(`${path}.media_type`, `Input should be '${PDF}'`);
      }
      return headed(heading, [{ ...pdf, source: readBase64(source.data, path) }]);
    case 'url':
      return headed(heading, [{ ...pdf, source: addressOf(source.url, path) }]);
    case 'text':
    case 'content': {
      const content = source.type === 'text' ? source.data : (source.content ?? []);
      if (typeof content === 'string') {
        return [{ kind: 'text', text: underHeading(heading, content), ...hint }];
      }
      const parts = content.map((item, index): ContentPart => {
        const at = `${path}.content.${index}`;
        if (item.type === 'text') return { kind: 'text', text: item.text ?? '' };
        if (item.type === 'image') return readImage(item, at);
        throw unknownTag(item, at, "'text' or 'image'");
      });
      return headed(heading, parts).map((part) => ({ ...part, ...hint }));
    }
    default:
      throw unknownSource(source, path, "'base64', 'text', 'url' or 'content'");
  }
}

function headed(heading: string, parts: readonly ContentPart[]): readonly ContentPart[] {
  return heading === '' ? parts : [{ kind: 'text', text: heading }, ...parts];
}

function underHeading(heading: string, text: string): string {
  return heading === '' ? text : `${heading}\n\n${text}`;
}

/** Plain base64. Line breaks and the URL-safe alphabet are put right; anything else is a 400. */
function readBase64(data: string, source: string): MediaSource {
  const base64 = tidyBase64(data);
  if (base64 !== undefined) return { kind: 'base64', base64 };
  throw fieldError(`${source}.data`, 'Input should be base64 without a data: prefix');
}

function addressOf(url: string, source: string): MediaSource {
  return { kind: 'url', url, path: bracketPath(`${source}.url`) };
}
