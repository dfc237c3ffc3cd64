// Reads `system` and `messages` into system parts and turns, faithfully: nothing is merged or repaired.

import { modalityOf, spellMediaType, splitInlineImages } from '../../canonical/media.ts';
import type { Receipt } from '../../canonical/receipt.ts';
import type {
  Effort,
  MediaPart,
  MediaSource,
  Part,
  ServerToolCallPart,
  TextPart,
  ToolResultContent,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts';
import { readCarrier } from '../../canonical/signatures.ts';
import { tidyBase64 } from '../../lib/base64.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { findUrlFault } from '../../lib/net.ts';
import { findSummary, readEffort, type Summary } from './read-reasoning.ts';
import {
  isServerResultTag,
  readServerResult,
  readToolChange,
  type ToolChange,
  toolAvailable,
} from './read-tools.ts';
import {
  asScope,
  bracketPath,
  fieldAt,
  fieldError,
  missing,
  nonEmptyStringAt,
  note,
  objectAt,
  optionalArrayAt,
  optionalBooleanAt,
  optionalObjectAt,
  optionalStringAt,
  optionalWordAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
  wrongType,
} from './schema.ts';

interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  /** The effort a system message asks for in the current turn. */
  readonly turnEffort: Effort | undefined;
  /** What becomes of the declared tools on the way, in order. */
  readonly toolChanges: readonly ToolChange[];
}

const ROLES = ['user', 'assistant', 'system'] as const;

/** @throws GatewayError naming the field by its dotted path. */
export function readConversation(body: Scope, receipt: Receipt): Conversation {
  const messages = readMessageScopes(body);
  const lastUser = messages.findLastIndex((message) => message.value.role === 'user');
  const draft: Draft = {
    system: [...readSystem(body)],
    turns: [],
    turnEffort: undefined,
    toolChanges: [],
  };
  for (const [index, message] of messages.entries()) {
    const role = readRole(message);
    if (role === 'system') addInstruction(message, draft, index < lastUser);
    else addTurn(message, role, { draft, receipt });
  }
  if (draft.turns.length === 0) {
    throw fieldError('messages', 'at least one message is required');
  }
  return draft;
}

/** The conversation as far as it is read. */
interface Draft extends Conversation {
  readonly system: TextPart[];
  readonly turns: Turn[];
  readonly toolChanges: ToolChange[];
  turnEffort: Effort | undefined;
}

function addInstruction(message: Scope, draft: Draft, isFollowed: boolean): void {
  draft.turnEffort = readMessageEffort(message) ?? draft.turnEffort;
  const { toolChanges } = draft;
  const parts = readSystemMessage(message, { toolChanges, isCleared: isFollowed });
  if (draft.turns.length === 0) for (const part of parts) draft.system.push(part);
  else if (parts.length > 0) draft.turns.push({ role: 'system', parts });
}

function addTurn(
  message: Scope,
  role: 'user' | 'assistant',
  { draft, receipt }: { readonly draft: Draft; readonly receipt: Receipt },
): void {
  noteMessageConfig(message, receipt);
  const summary = role === 'assistant' ? findSummary(message) : undefined;
  if (summary !== undefined) startFrom(summary, draft);
  const parts = readContent(message, { role, receipt, from: summary?.end });
  if (summary !== undefined && parts.length === 0) return;
  const startsTurn = role === 'user' && parts.some((part) => part.kind !== 'tool-result');
  if (startsTurn) draft.turnEffort = undefined;
  draft.turns.push({ role, parts });
}

/**
 * What a summary stands for is no longer part of the conversation, as for the real service. It is
 * the user's word: it may be all there is to answer.
 */
function startFrom({ text, toolChanges }: Summary, draft: Draft): void {
  draft.turns.splice(0, draft.turns.length, { role: 'user', parts: [{ kind: 'text', text }] });
  if (toolChanges === undefined) return;
  draft.toolChanges.splice(0, draft.toolChanges.length, ...toolChanges);
}

function readMessageScopes(body: Scope): readonly Scope[] {
  const messages = optionalArrayAt(body, 'messages');
  if (messages === undefined) throw missing('messages');
  return messages.map((message, index) => asScope(message, `messages.${index}`));
}

function readSystem(body: Scope): readonly TextPart[] {
  const system = fieldAt(body, 'system');
  if (system === undefined || system === '') return [];
  if (typeof system === 'string') return [{ kind: 'text', text: system }];
  if (!Array.isArray(system)) throw wrongType('system', 'a valid string or a valid list');
  return system.map((item, index) => {
    const block = asScope(item, `system.${index}`);
    if (tagOf(block) !== 'text') throw unknownTag(block, "'text'");
    return readText(block);
  });
}

function readRole(message: Scope): Turn['role'] {
  const role = optionalWordAt(message, 'role', ROLES);
  if (role === undefined) throw missing(pathOf(message, 'role'));
  return role;
}

function readMessageEffort(message: Scope): Effort | undefined {
  const config = optionalObjectAt(message, 'output_config');
  return config === undefined ? undefined : readEffort(config);
}

/** The protocol has it on system messages only. */
function noteMessageConfig(message: Scope, receipt: Receipt): void {
  if (fieldAt(message, 'output_config') === undefined) return;
  const reason = told`Only a system message says how its turn is answered.`;
  note(receipt, 'dropped', { path: pathOf(message, 'output_config'), reason });
}

interface SystemMessageContext {
  /** Changes found are added here. */
  readonly toolChanges: ToolChange[];
  /** True when a later user message exists, which ends `clear_at:"next_user_message"`. */
  readonly isCleared: boolean;
}

/** Source: SDK `resources/beta/messages/messages.d.ts`, BetaSystemMessageParam. */
function readSystemMessage(message: Scope, context: SystemMessageContext): readonly TextPart[] {
  const clearAt = optionalWordAt(message, 'clear_at', ['next_user_message', 'never']);
  const isCleared = clearAt === 'next_user_message' && context.isCleared;
  const content = fieldAt(message, 'content');
  if (content === undefined || content === '') return [];
  if (typeof content === 'string') return isCleared ? [] : [{ kind: 'text', text: content }];
  const path = pathOf(message, 'content');
  if (!Array.isArray(content)) throw wrongType(path, 'a valid string or a valid list');
  const parts = content.map((item, index) =>
    readSystemBlock(asScope(item, `${path}.${index}`), context.toolChanges),
  );
  return isCleared ? [] : parts;
}

function readSystemBlock(block: Scope, toolChanges: ToolChange[]): TextPart {
  switch (tagOf(block)) {
    case 'text':
      return readText(block);
    case 'tool_addition':
      return announce(readToolChange(block, 'added'), toolChanges);
    case 'tool_removal':
      return announce(readToolChange(block, 'removed'), toolChanges);
    default:
      throw unknownTag(block, "'text', 'tool_addition' or 'tool_removal'");
  }
}

function announce(
  { text, change }: ReturnType<typeof readToolChange>,
  toolChanges: ToolChange[],
): TextPart {
  if (change !== undefined) toolChanges.push(change);
  return { kind: 'text', text };
}

interface BlockContext {
  readonly role: 'user' | 'assistant';
  readonly receipt: Receipt;
  /** The first block that is part of the conversation; absent for the first of all. */
  readonly from?: number | undefined;
}

const BLOCKS =
  "'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use' or 'tool_result'";
const RESULT_BLOCKS = "'text', 'image', 'document', 'search_result' or 'tool_reference'";

/** The parts of a message's `content`: a string or a list of blocks. */
function readContent(message: Scope, context: BlockContext): readonly Part[] {
  const content = fieldAt(message, 'content');
  if (typeof content === 'string') return splitInlineImages({ kind: 'text', text: content });
  const path = pathOf(message, 'content');
  if (content === undefined) throw missing(path);
  if (!Array.isArray(content)) throw wrongType(path, 'a valid string or a valid list');
  const { from = 0 } = context;
  return content.flatMap((item, index) =>
    index < from ? [] : readBlock(asScope(item, `${path}.${index}`), context),
  );
}

/** A `text` block. */
function readText(block: Scope): TextPart {
  return { kind: 'text', text: stringAt(block, 'text'), ...cacheHintOf(block) };
}

function readBlock(block: Scope, context: BlockContext): readonly Part[] {
  const tag = tagOf(block);
  noteCitations(block, context.receipt);
  switch (tag) {
    case 'text':
      return splitInlineImages(readText(block));
    case 'image':
      return [readImage(block)];
    case 'document':
      return readDocument(block);
    case 'search_result':
      return [readSearchResult(block)];
    case 'tool_result':
      requireRole(block, context, 'user');
      return [readToolResult(block, context.receipt)];
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      requireRole(block, context, 'assistant');
      return [readAssistantBlock(block, tag)];
    default:
      return readRareBlock(block, context);
  }
}

function readAssistantBlock(
  block: Scope,
  tag: 'thinking' | 'redacted_thinking' | 'tool_use' | 'server_tool_use' | 'mcp_tool_use',
): Part {
  switch (tag) {
    case 'thinking': {
      const signature = readCarrier(optionalStringAt(block, 'signature'));
      return { kind: 'thinking', text: stringAt(block, 'thinking'), signature };
    }
    case 'redacted_thinking':
      return { kind: 'redacted-thinking', payload: stringAt(block, 'data') };
    case 'tool_use': {
      const signature = readCarrier(optionalStringAt(block, 'signature'));
      return { kind: 'tool-call', ...readCall(block), signature };
    }
    case 'server_tool_use':
    case 'mcp_tool_use':
      return { kind: 'server-tool-call', ...readCall(block) };
    default:
      return tag satisfies never;
  }
}

function readCall(block: Scope): Omit<ServerToolCallPart, 'kind'> {
  const id = nonEmptyStringAt(block, 'id');
  const name = nonEmptyStringAt(block, 'name');
  const input: JsonObject = optionalObjectAt(block, 'input')?.value ?? {};
  return { id, name, input };
}

/** Blocks only other servers' answers hold; they come back in history and are never refused there. */
function readRareBlock(block: Scope, { receipt }: BlockContext): readonly Part[] {
  const tag = tagOf(block);
  if (isServerResultTag(tag)) return [readServerResult(block)];
  switch (tag) {
    case 'compaction': {
      const summary = optionalStringAt(block, 'content');
      if (summary !== undefined) return [{ kind: 'text', text: summary, ...cacheHintOf(block) }];
      note(receipt, 'dropped', {
        path: block.path,
        reason: told`The summary can be read by its issuer only.`,
      });
      return [];
    }
    case 'container_upload':
    case 'fallback':
    case 'mcp_tool_listing':
      note(receipt, 'dropped', {
        path: block.path,
        reason: told`${tag} blocks mean nothing here.`,
      });
      return [];
    default:
      throw unknownTag(block, BLOCKS);
  }
}

function readToolResult(block: Scope, receipt: Receipt): ToolResultPart {
  return {
    kind: 'tool-result',
    callId: nonEmptyStringAt(block, 'tool_use_id'),
    content: readResultContent(block, receipt),
    isError: optionalBooleanAt(block, 'is_error') ?? false,
    ...cacheHintOf(block),
  };
}

function readResultContent(block: Scope, receipt: Receipt): readonly ToolResultContent[] {
  const content = fieldAt(block, 'content');
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  const items = optionalArrayAt(block, 'content') ?? [];
  const path = pathOf(block, 'content');
  return items.flatMap((item, index) => {
    const scope = asScope(item, `${path}.${index}`);
    noteCitations(scope, receipt);
    return readResultBlock(scope);
  });
}

function readResultBlock(block: Scope): readonly ToolResultContent[] {
  switch (tagOf(block)) {
    case 'text':
      return [plainText(stringAt(block, 'text'))];
    case 'image':
      return [readImage(block)];
    case 'document':
      return readDocument(block).map((part) =>
        part.kind === 'text' ? plainText(part.text) : part,
      );
    case 'search_result':
      return [plainText(readSearchResult(block).text)];
    case 'tool_reference':
      return [plainText(toolAvailable(nonEmptyStringAt(block, 'tool_name')))];
    case 'browser_state':
      return [plainText(JSON.stringify(block.value))];
    default:
      throw unknownTag(block, RESULT_BLOCKS);
  }
}

/** A list is what an earlier answer cited, `{enabled: true}` the wish that the next one cites. */
function noteCitations(block: Scope, receipt: Receipt): void {
  const citations = fieldAt(block, 'citations');
  const isWish = isJsonObject(citations) && citations.enabled === true;
  if (!isWish && !(Array.isArray(citations) && citations.length > 0)) return;
  const reason = isWish
    ? told`The upstream cites what it finds in a search, not what it is given.`
    : told`What an earlier answer cited is not sent upstream.`;
  note(receipt, 'dropped', { path: pathOf(block, 'citations'), reason });
}

function plainText(text: string): { readonly kind: 'text'; readonly text: string } {
  return { kind: 'text', text };
}

function requireRole(block: Scope, { role }: BlockContext, owner: BlockContext['role']): void {
  if (role === owner) return;
  throw fieldError(block.path, `\`${tagOf(block)}\` blocks can only be in \`${owner}\` messages`);
}

/** What a block of the prompt's own content can become. */
type ContentPart = TextPart | MediaPart;

const PDF = 'application/pdf';
const NO_FILES = 'Files cannot be stored here; send the content as base64 or as text';

/** `{cacheHint: true}` for a block with `cache_control`, else nothing. */
function cacheHintOf(scope: Scope): { readonly cacheHint?: true } {
  return fieldAt(scope, 'cache_control') === undefined ? {} : { cacheHint: true };
}

/** An `image` block: base64 or an https address. */
function readImage(scope: Scope): MediaPart {
  const source = objectAt(scope, 'source');
  const hint = cacheHintOf(scope);
  switch (tagOf(source)) {
    case 'base64': {
      const mediaType = spellMediaType(nonEmptyStringAt(source, 'media_type'));
      if (modalityOf(mediaType) !== 'image') {
        const path = pathOf(source, 'media_type');
        throw fieldError(path, "Input should be the type of a picture, such as 'image/png'");
      }
      return { kind: 'media', modality: 'image', mediaType, source: readBase64(source), ...hint };
    }
    case 'url':
      return { kind: 'media', modality: 'image', source: readUrl(source), ...hint };
    case 'file':
      throw fieldError(pathOf(source, 'type'), NO_FILES, 'unsupported');
    default:
      throw unknownTag(source, "'base64' or 'url'");
  }
}

/**
 * A `document` block: a PDF stays media, everything else is text. Title and context are for the model to read,
 * so they stand before either as text: the upstream has no field for them.
 */
function readDocument(scope: Scope): readonly ContentPart[] {
  const source = objectAt(scope, 'source');
  const title = optionalStringAt(scope, 'title');
  const context = optionalStringAt(scope, 'context');
  const heading = [title, context].filter((line) => line !== undefined && line !== '').join('\n');
  const hint = cacheHintOf(scope);
  switch (tagOf(source)) {
    case 'base64':
    case 'url': {
      const media: MediaPart = { ...readPdf(source), ...hint };
      return heading === '' ? [media] : [{ kind: 'text', text: heading }, media];
    }
    case 'text':
      return [{ kind: 'text', text: underHeading(heading, stringAt(source, 'data')), ...hint }];
    case 'content':
      return readContentSource(source, heading).map((part) => ({ ...part, ...hint }));
    case 'file':
      throw fieldError(pathOf(source, 'type'), NO_FILES, 'unsupported');
    default:
      throw unknownTag(source, "'base64', 'text', 'url' or 'content'");
  }
}

/** A `search_result` block as text: title, address, passages. */
function readSearchResult(scope: Scope): TextPart {
  const heading = `${stringAt(scope, 'title')}\n${stringAt(scope, 'source')}`;
  const items = optionalArrayAt(scope, 'content') ?? [];
  const passages = items.map((item, index) =>
    stringAt(asScope(item, `${pathOf(scope, 'content')}.${index}`), 'text'),
  );
  return { kind: 'text', text: underHeading(heading, passages.join('\n')), ...cacheHintOf(scope) };
}

function readPdf(source: Scope): MediaPart {
  const document = { kind: 'media', modality: 'document', mediaType: PDF } as const;
  if (tagOf(source) === 'url') return { ...document, source: readUrl(source) };
  const mediaType = optionalStringAt(source, 'media_type') ?? PDF;
  if (mediaType.toLowerCase() !== PDF) {
    throw fieldError(pathOf(source, 'media_type'), `Input should be '${PDF}'`);
  }
  return { ...document, source: readBase64(source) };
}

function readContentSource(source: Scope, heading: string): readonly ContentPart[] {
  const content = fieldAt(source, 'content');
  if (typeof content === 'string') return [{ kind: 'text', text: underHeading(heading, content) }];
  const parts = (optionalArrayAt(source, 'content') ?? []).map((item, index): ContentPart => {
    const block = asScope(item, `${pathOf(source, 'content')}.${index}`);
    const tag = tagOf(block);
    if (tag === 'text') return { kind: 'text', text: stringAt(block, 'text') };
    if (tag === 'image') return readImage(block);
    throw unknownTag(block, "'text' or 'image'");
  });
  return heading === '' ? parts : [{ kind: 'text', text: heading }, ...parts];
}

/** Plain base64. Line breaks and the URL-safe alphabet are put right; anything else is a 400. */
function readBase64(source: Scope): MediaSource {
  const base64 = tidyBase64(nonEmptyStringAt(source, 'data'));
  if (base64 === undefined) {
    throw fieldError(pathOf(source, 'data'), 'Input should be base64 without a data: prefix');
  }
  return { kind: 'base64', base64 };
}

/** Only public web addresses: never a file of this machine or a host of its network. */
function readUrl(source: Scope): MediaSource {
  const url = nonEmptyStringAt(source, 'url');
  const path = pathOf(source, 'url');
  if (findUrlFault(url) === undefined) return { kind: 'url', url, path: bracketPath(path) };
  throw fieldError(path, 'Input should be a public http or https address');
}

function underHeading(heading: string, text: string): string {
  return heading === '' ? text : `${heading}\n\n${text}`;
}
