// Writes the conversation: one content a turn, none of them empty.

import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../canonical/receipt.ts';
import type { CanonicalRequest, Part, ToolResultPart, Turn } from '../../canonical/request.ts';
import type { WireContent, WirePart } from '../../wire/generate.ts';
import type { ContentsContext, EncodeContext } from './encode-context.ts';
import { encodeModelTurn } from './encode-model-turn.ts';
import { encodePlainPart } from './encode-parts.ts';
import { isThinking } from './encode-thinking.ts';
import { encodeToolResult } from './encode-tool-result.ts';

/** @throws GatewayError (invalid-request) when nothing is left to send. */
export function encodeContents(request: CanonicalRequest, context: ContentsContext): WireContent[] {
  const { turns, reasoning } = request;
  const sendsThoughts = isThinking(reasoning, context.target.capabilities);
  const prompt = lastPromptIndex(turns);
  const callNames = new Map<string, string>();
  const contents: WireContent[] = [];
  for (const [index, turn] of turns.entries()) {
    const content = encodeTurn(turn, {
      ...context,
      sendsThoughts,
      isCurrent: index > prompt,
      callNames,
    });
    if (content.parts.length > 0) contents.push(content);
  }
  if (contents.length === 0) {
    throw invalidRequest('messages', 'messages: there is nothing to answer; send some content.');
  }
  return contents;
}

interface TurnContext extends ContentsContext {
  readonly sendsThoughts: boolean;
  readonly isCurrent: boolean;
  /** Names of the calls so far, by id. */
  readonly callNames: Map<string, string>;
}

function encodeTurn(turn: Turn, context: TurnContext): WireContent {
  switch (turn.role) {
    case 'assistant':
      for (const part of turn.parts) {
        if (part.kind === 'tool-call') context.callNames.set(part.id, part.name);
      }
      return { role: 'model', parts: encodeModelTurn(turn.parts, context) };
    case 'user':
    case 'system':
      return { role: 'user', parts: encodeUserTurn(turn.parts, context) };
    default:
      return turn satisfies never;
  }
}

/** Media of tool results wait until the last result: responses stand together. */
function encodeUserTurn(parts: readonly Part[], context: TurnContext): WirePart[] {
  const encoded: WirePart[] = [];
  let waiting: WirePart[] = [];
  for (const part of parts) {
    if (part.kind === 'tool-result') {
      const result = encodeToolResult(part, nameOf(part, context), context);
      encoded.push(result.part);
      for (const beside of result.beside) waiting.push(beside);
      continue;
    }
    for (const beside of waiting) encoded.push(beside);
    encoded.push(...encodeUserPart(part, context));
    waiting = [];
  }
  return encoded.concat(waiting);
}

function encodeUserPart(
  part: Exclude<Part, ToolResultPart>,
  context: EncodeContext,
): readonly WirePart[] {
  switch (part.kind) {
    case 'tool-call':
    case 'thinking':
    case 'redacted-thinking':
      context.target.receipt.add('dropped', 'messages', told`A ${part.kind} stood in a user turn.`);
      return [];
    default: {
      const encoded = encodePlainPart(part, context);
      return encoded.text === '' ? [] : [encoded];
    }
  }
}

function nameOf(part: ToolResultPart, { callNames }: TurnContext): string {
  const name = part.name ?? callNames.get(part.callId);
  if (name !== undefined) return name;
  throw invalidRequest(
    'messages',
    `messages: the tool result for "${part.callId}" has no tool call before it.`,
  );
}

/** The last user turn without tool results: what follows it is the turn in progress. */
function lastPromptIndex(turns: readonly Turn[]): number {
  return turns.findLastIndex(
    (turn) => turn.role === 'user' && !turn.parts.some((part) => part.kind === 'tool-result'),
  );
}
