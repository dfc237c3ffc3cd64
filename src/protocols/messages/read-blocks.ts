// Reads the content blocks of user and assistant messages into canonical parts.

import { type Receipt, told } from '../../canonical/receipt.ts';
import type {
  Part,
  ServerToolCallPart,
  TextPart,
  ToolResultContent,
  ToolResultPart,
} from '../../canonical/request.ts';
import { readCarrier } from '../../canonical/signature-carrier.ts';
import { splitInlineImages } from '../../canonical/split-inline-images.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import {
  asScope,
  fieldAt,
  fieldError,
  missing,
  nonEmptyStringAt,
  note,
  optionalArrayAt,
  optionalBooleanAt,
  optionalObjectAt,
  optionalStringAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
  wrongType,
} from './fields.ts';
import { cacheHintOf, readDocument, readImage, readSearchResult } from './read-media.ts';
import { isServerResultTag, readServerResult, toolAvailable } from './read-server-results.ts';

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
export function readContent(message: Scope, context: BlockContext): readonly Part[] {
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
export function readText(block: Scope): TextPart {
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
