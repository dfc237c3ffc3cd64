// What a text may stand for where a schema does not allow texts.

import { type JsonValue, parseJson } from '../../lib/json.ts';
import type { SchemaNode, ValueType } from './schema-node.ts';

/** No leading zeros, no negative zero: such texts are versions or codes (`007`, `01.0`). */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const NEGATIVE_ZERO = /^-0(?:\.0*)?$/;

const LOOSE_BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

/**
 * Candidates in no order of likelihood; whether one fits is for the caller to see. Numbers keep every
 * digit.
 * @param name the property the text was given for, as flags are repeated as their own value (`-n`).
 */
export function readText(node: SchemaNode, text: string, name: string): readonly JsonValue[] {
  const candidates: JsonValue[] = [];
  for (const { byText } of node.lists) {
    // The upstream was given the values that are no texts as such.
    const listed = byText.get(text);
    if (listed !== undefined) candidates.push(listed);
  }
  const { types } = node;
  if (types.has('integer') || types.has('fraction')) candidates.push(...readNumberText(text));
  if (types.has('boolean')) candidates.push(...readBooleanText(types, text, name));
  if (types.has('null') && text === 'null') candidates.push(null);
  if (types.has('object') || types.has('array')) candidates.push(...readJsonText(text));
  return candidates;
}

/**
 * What a text stands for where any value was asked for as JSON text; undefined for a text that is its own
 * value. Numbers are those written the one usual way: `1.10`, `1e3` and `007` are no JSON a model would write.
 */
export function readAnyText(text: string): JsonValue | undefined {
  if (/^\s*(?:\[|\{|"[\s\S]*"\s*$)/.test(text)) return parsed(text)[0];
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  return readNumberText(text).find((number) => JSON.stringify(number) === text);
}

function readNumberText(text: string): readonly JsonValue[] {
  const isDecimal = DECIMAL.test(text) && !NEGATIVE_ZERO.test(text);
  return isDecimal || String(Number(text)) === text ? parsed(text) : [];
}

/** Words are taken for a boolean only where nothing else but null is allowed. */
function readBooleanText(
  types: ReadonlySet<ValueType>,
  text: string,
  name: string,
): readonly boolean[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  const isOnly = types.size === (types.has('null') ? 2 : 1);
  if (!isOnly) return [];
  const word = LOOSE_BOOLEANS.get(text.toLowerCase());
  if (word !== undefined) return [word];
  return text.startsWith('-') && withoutDashes(text) === withoutDashes(name) ? [true] : [];
}

function withoutDashes(flag: string): string {
  return flag.replace(/^-+/, '');
}

function readJsonText(text: string): readonly JsonValue[] {
  return /^\s*[[{]/.test(text) ? parsed(text) : [];
}

function parsed(text: string): readonly JsonValue[] {
  try {
    return [parseJson(text)];
  } catch {
    return [];
  }
}
