// What a conversation is known by where its client names no session: its system texts and the text that opens it.

import type { CanonicalRequest } from './request.ts';

/** The first text of a user that is so long, wherever it stands, opens a conversation; undefined where none is. */
export const MIN_OPENING_LENGTH = 10;
const MAX_OPENING_LENGTH = 4096;

export function joinOpening(system: readonly string[], said: string): string {
  return `${system.join('\n').slice(0, MAX_OPENING_LENGTH)}\n${said.slice(0, MAX_OPENING_LENGTH)}`;
}

/** That of a request; undefined where no user has said so much. */
export function openingText({
  system,
  turns,
}: Pick<CanonicalRequest, 'system' | 'turns'>): string | undefined {
  for (const { role, parts } of turns) {
    if (role !== 'user') continue;
    for (const part of parts) {
      if (part.kind !== 'text' || part.text.length < MIN_OPENING_LENGTH) continue;
      return joinOpening(
        system.map(({ text }) => text),
        part.text,
      );
    }
  }
  return undefined;
}
