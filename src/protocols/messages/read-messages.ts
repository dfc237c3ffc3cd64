// Reads `system` and `messages` into system parts and turns, faithfully: nothing is merged or repaired.

import { type Receipt, told } from '../../canonical/receipt.ts';
import type { Effort, TextPart, Turn } from '../../canonical/request.ts';
import {
  asScope,
  fieldAt,
  fieldError,
  missing,
  note,
  optionalArrayAt,
  optionalObjectAt,
  optionalWordAt,
  pathOf,
  type Scope,
  tagOf,
  unknownTag,
  wrongType,
} from './fields.ts';
import { readContent, readText } from './read-blocks.ts';
import { findSummary, type Summary } from './read-compaction.ts';
import { readEffort } from './read-reasoning.ts';
import { readToolChange, type ToolChange } from './tool-changes.ts';

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
