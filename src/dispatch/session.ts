// Names the session a request belongs to, so that its turns stay on one account.

import { hash as digest } from 'node:crypto';
import type { CanonicalRequest, Part } from '../canonical/request.ts';
import type { GenerateCall } from '../protocols/protocol.ts';
import type { CallContext } from './dispatcher.ts';

const SHORTEST_TEXT = 10;
const HASHED_CHARACTERS = 4096;

/** The header's session, else the body's own, else a hash of the conversation's beginning. */
export function nameSession(
  call: GenerateCall,
  context: Pick<CallContext, 'headerSession'>,
): string | undefined {
  if (context.headerSession !== undefined) return `header ${context.headerSession}`;
  if (call.bodySession !== undefined) return `body ${call.bodySession}`;
  const beginning =
    call.relay === undefined ? openingText(call.canonical()) : call.relay.openingText();
  return beginning === undefined ? undefined : `text ${hash(beginning)}`;
}

/** The system text and the first user text that is long enough, wherever it stands. */
function openingText({ system, turns }: CanonicalRequest): string | undefined {
  for (const { role, parts } of turns) {
    const first = role === 'user' ? parts.find(isLongText) : undefined;
    if (first === undefined) continue;
    const before = system.map((part) => part.text).join('\n');
    return `${before.slice(0, HASHED_CHARACTERS)}\n${first.text.slice(0, HASHED_CHARACTERS)}`;
  }
  return undefined;
}

function isLongText(part: Part): part is Extract<Part, { kind: 'text' }> {
  return part.kind === 'text' && part.text.length >= SHORTEST_TEXT;
}

function hash(text: string): string {
  return digest('sha256', text, 'base64url');
}
