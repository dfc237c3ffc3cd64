// Reads `system` and `messages` into system parts and turns, faithfully: nothing is merged or repaired.

import type { Receipt } from '../../canonical/receipt.ts';
import type { Effort, TextPart, Turn } from '../../canonical/request.ts';
import {
  asScope,
  fieldAt,
  fieldError,
  missing,
  note,
  objectAt,
  optionalArrayAt,
  optionalObjectAt,
  optionalWordAt,
  pathOf,
  type Scope,
  stringAt,
  tagOf,
  unknownTag,
  wrongType,
} from './fields.ts';
import { readContent, readText } from './read-blocks.ts';
import { readEffort } from './read-reasoning.ts';
import { toolAvailable } from './read-server-results.ts';

interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  /** The effort a system message asks for in the current turn. */
  readonly turnEffort: Effort | undefined;
  /** Tools declared in mid-conversation (`tool_addition` with a definition). */
  readonly addedTools: readonly Scope[];
}

const ROLES = ['user', 'assistant', 'system'] as const;

/** @throws GatewayError naming the field by its dotted path. */
export function readConversation(body: Scope, receipt: Receipt): Conversation {
  const messages = readMessageScopes(body);
  const lastUser = messages.findLastIndex((message) => message.value.role === 'user');
  const system = [...readSystem(body)];
  const turns: Turn[] = [];
  const addedTools: Scope[] = [];
  let turnEffort: Effort | undefined;
  for (const [index, message] of messages.entries()) {
    const role = readRole(message);
    if (role === 'system') {
      turnEffort = readMessageEffort(message) ?? turnEffort;
      const parts = readSystemMessage(message, { addedTools, isCleared: index < lastUser });
      if (turns.length === 0) for (const part of parts) system.push(part);
      else if (parts.length > 0) turns.push({ role, parts });
      continue;
    }
    noteMessageConfig(message, receipt);
    const parts = readContent(message, { role, receipt });
    const startsTurn = role === 'user' && parts.some((part) => part.kind !== 'tool-result');
    if (startsTurn) turnEffort = undefined;
    turns.push({ role, parts });
  }
  if (turns.length === 0) throw fieldError('messages', 'at least one message is required');
  return { system, turns, turnEffort, addedTools };
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
  const reason = 'Only a system message says how its turn is answered.';
  note(receipt, 'dropped', { path: pathOf(message, 'output_config'), reason });
}

interface SystemMessageContext {
  /** Definitions found are added here. */
  readonly addedTools: Scope[];
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
    readSystemBlock(asScope(item, `${path}.${index}`), context.addedTools),
  );
  return isCleared ? [] : parts;
}

function readSystemBlock(block: Scope, addedTools: Scope[]): TextPart {
  switch (tagOf(block)) {
    case 'text':
      return readText(block);
    case 'tool_addition':
      return {
        kind: 'text',
        text: toolAvailable(readAddition(objectAt(block, 'tool'), addedTools)),
      };
    case 'tool_removal':
      return {
        kind: 'text',
        text: `Tool ${changedName(objectAt(block, 'tool'))} is no longer available.`,
      };
    default:
      throw unknownTag(block, "'text', 'tool_addition' or 'tool_removal'");
  }
}

/** The name of the tool that becomes available. */
function readAddition(tool: Scope, addedTools: Scope[]): string {
  if (tagOf(tool) !== 'tool_definition') return changedName(tool);
  const definition = objectAt(tool, 'definition');
  addedTools.push(definition);
  return stringAt(definition, 'name');
}

function changedName(tool: Scope): string {
  return stringAt(tool, tagOf(tool) === 'mcp_toolset_reference' ? 'server_name' : 'name');
}
