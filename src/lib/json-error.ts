// Where a text stops to be JSON.

const LITERALS = ['true', 'false', 'null'] as const;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

interface ErrorSearch {
  expected: Expectation;
  /** What closes each open object and list. */
  readonly open: ('}' | ']')[];
}

/** Index (in UTF-16 units) of the first character that no JSON text can have there; the length when the text ends too early. */
export function findJsonError(text: string): number {
  const search: ErrorSearch = { expected: 'value', open: [] };
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const end = endOfToken(text, at, search);
    if (end === undefined) return at;
    at = skipSpace(text, end);
    if (search.expected === 'comma-or-end' && search.open.length === 0) return at;
  }
  return text.length;
}

/** Index behind the token at `at`; undefined when none may stand there. */
function endOfToken(text: string, at: number, search: ErrorSearch): number | undefined {
  const { expected, open } = search;
  const character = text.charAt(at);
  if (expected.endsWith('-or-end') && character === open.at(-1)) {
    open.pop();
    search.expected = 'comma-or-end';
    return at + 1;
  }
  switch (expected) {
    case 'comma-or-end':
      search.expected = open.at(-1) === '}' ? 'key' : 'value';
      return character === ',' ? at + 1 : undefined;
    case 'colon':
      search.expected = 'value';
      return character === ':' ? at + 1 : undefined;
    case 'key':
    case 'key-or-end':
      search.expected = 'colon';
      return readString(text, at);
    default:
      if (character === '{' || character === '[') {
        open.push(character === '{' ? '}' : ']');
        search.expected = character === '{' ? 'key-or-end' : 'value-or-end';
        return at + 1;
      }
      search.expected = 'comma-or-end';
      return character === '"' ? readString(text, at) : readLiteral(text, at);
  }
}

function readLiteral(text: string, at: number): number | undefined {
  const literal = LITERALS.find((word) => text.startsWith(word, at));
  if (literal !== undefined) return at + literal.length;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined;
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
