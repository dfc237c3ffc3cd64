// Finds `CALL-TOOL <name> <json>` in a prompt, also when a client has quoted the prompt once more.

import { isJsonObject, type JsonObject, parseJson } from '../json.ts';

export type CallMarkerWord = 'CALL-TOOL' | 'THEN-CALL-TOOL';

export interface CallMarker {
  readonly name: string;
  readonly args: JsonObject;
}

/** What may stand right before the word without making it another word. */
const WORD_CHARACTER = /[A-Za-z0-9_-]/;
const NAME_AND_BRACE = /\s+([A-Za-z0-9_.:/-]+)\s*(?=\{)/y;
const QUOTED_OPENING = /^\{\s*\\"/;

/** The markers in order. Text after the word that is no name with a JSON object is left alone. */
export function findCallMarkers(text: string, word: CallMarkerWord): CallMarker[] {
  const markers: CallMarker[] = [];
  let from = text.indexOf(word);
  while (from !== -1) {
    const end = from + word.length;
    const standsAlone = from === 0 || !WORD_CHARACTER.test(text.charAt(from - 1));
    const marker = standsAlone ? readMarker(text, end) : undefined;
    if (marker !== undefined) markers.push(marker);
    from = text.indexOf(word, end);
  }
  return markers;
}

function readMarker(text: string, start: number): CallMarker | undefined {
  NAME_AND_BRACE.lastIndex = start;
  const name = NAME_AND_BRACE.exec(text)?.[1];
  if (name === undefined) return undefined;
  const rest = text.slice(NAME_AND_BRACE.lastIndex);
  const args = readObject(QUOTED_OPENING.test(rest) ? unquote(rest) : rest);
  return args === undefined ? undefined : { name, args };
}

function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

/** The JSON object a text begins with. */
function readObject(text: string): JsonObject | undefined {
  const end = findObjectEnd(text);
  if (end === undefined) return undefined;
  try {
    const value = parseJson(text.slice(0, end));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The index behind the brace that closes the first one; braces inside strings do not count. */
function findObjectEnd(text: string): number | undefined {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}
