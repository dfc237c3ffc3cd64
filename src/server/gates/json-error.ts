// Says where a text stops being JSON; only used once the parser has refused it.

const LITERALS = ['true', 'false', 'null'] as const;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** Index (in UTF-16 units) of the first character that no JSON text can have there; the length when the text ends too early. */
export function findJsonError(text: string): number {
  const open: ('}' | ']')[] = [];
  let expected: Expectation = 'value';
  let index = skipSpace(text, 0);
  while (index < text.length) {
    const next = readToken(text, index, { expected, open });
    if (next === undefined) return index;
    expected = next.expected;
    index = skipSpace(text, next.end);
    if (expected === 'comma-or-end' && open.length === 0) return index;
  }
  return text.length;
}

interface State {
  readonly expected: Expectation;
  readonly open: ('}' | ']')[];
}

interface Step {
  readonly end: number;
  readonly expected: Expectation;
}

function readToken(text: string, index: number, state: State): Step | undefined {
  const { expected, open } = state;
  const character = text.charAt(index);
  const mayEnd = expected !== 'value' && expected !== 'key' && expected !== 'colon';
  if (mayEnd && character === open.at(-1)) {
    const fits = (expected === 'key-or-end') === (character === '}') || expected === 'comma-or-end';
    if (!fits) return undefined;
    open.pop();
    return { end: index + 1, expected: 'comma-or-end' };
  }
  switch (expected) {
    case 'comma-or-end':
      if (character !== ',') return undefined;
      return { end: index + 1, expected: open.at(-1) === '}' ? 'key' : 'value' };
    case 'colon':
      return character === ':' ? { end: index + 1, expected: 'value' } : undefined;
    case 'key':
    case 'key-or-end':
      return step(readString(text, index), 'colon');
    case 'value':
    case 'value-or-end':
      return readValue(text, index, open);
    default:
      expected satisfies never;
      return undefined;
  }
}

function readValue(text: string, index: number, open: ('}' | ']')[]): Step | undefined {
  const character = text.charAt(index);
  if (character === '{') {
    open.push('}');
    return { end: index + 1, expected: 'key-or-end' };
  }
  if (character === '[') {
    open.push(']');
    return { end: index + 1, expected: 'value-or-end' };
  }
  if (character === '"') return step(readString(text, index), 'comma-or-end');
  const literal = LITERALS.find((word) => text.startsWith(word, index));
  if (literal !== undefined) return step(index + literal.length, 'comma-or-end');
  NUMBER.lastIndex = index;
  return step(NUMBER.test(text) ? NUMBER.lastIndex : undefined, 'comma-or-end');
}

function step(end: number | undefined, expected: Expectation): Step | undefined {
  return end === undefined ? undefined : { end, expected };
}

/** Index behind the string that begins at `index`; undefined when there is no well-formed one. */
function readString(text: string, index: number): number | undefined {
  if (text.charAt(index) !== '"') return undefined;
  for (let at = index + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code !== 0x5c) continue;
    at++;
    if (text.charAt(at) === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return undefined;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(text.charAt(at))) return undefined;
  }
  return undefined;
}

function skipSpace(text: string, index: number): number {
  let at = index;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}
