// How a native conversation begins: what stays the same in all its turns names its session.

import type { JsonObject } from '../../lib/json.ts';
import { objectAt, objectsAt, textAt } from './native-fields.ts';

const SHORTEST_TEXT = 10;
const LONGEST_TEXT = 4096;

/**
 * The system text and the first user text of at least ten characters, each cut to 4096 characters;
 * undefined when no user text is that long. `body` is what normalizeBody gave.
 */
export function readOpeningText(body: JsonObject): string | undefined {
  for (const content of objectsAt(body, 'contents')) {
    if (textAt(content, 'role') === 'model') continue;
    const text = partTexts(content).find((candidate) => candidate.length >= SHORTEST_TEXT);
    if (text === undefined) continue;
    const system = partTexts(objectAt(body, 'systemInstruction')).join('\n');
    return `${system.slice(0, LONGEST_TEXT)}\n${text.slice(0, LONGEST_TEXT)}`;
  }
  return undefined;
}

function partTexts(content: JsonObject | undefined): string[] {
  return objectsAt(content, 'parts').map((part) => textAt(part, 'text') ?? '');
}
