// What the client and the upstream have of a request or of its response: which values the other one has not, and what
// was noted of fields.

import type { ReceiptLine } from '../../../../src/admin/contract.ts';

/** As JSON has them. */
type Value =
  | string
  | number
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value };

export interface MarkedLine {
  readonly text: string;
  /** A value that the other body holds nowhere. */
  readonly isMarked: boolean;
  readonly notes: readonly ReceiptLine[];
}

export interface MarkedBody {
  readonly lines: readonly MarkedLine[];
  /** About fields that stand nowhere in it. */
  readonly others: readonly ReceiptLine[];
}

const INDENT = '  ';

/** Undefined where one of them is no JSON, such as a text that was cut. */
export function compareBodies(
  text: string,
  other: string | undefined,
  notes: readonly ReceiptLine[] = [],
): MarkedBody | undefined {
  const value = parse(text);
  const known = other === undefined ? undefined : parse(other);
  if (value === undefined || (other !== undefined && known === undefined)) return undefined;
  const there = known === undefined ? undefined : new Set(leavesOf(known));
  const lines = [...linesOf(value, { path: '', before: '', after: '', depth: 0 })];
  const noted = new Map<string, ReceiptLine[]>();
  const others: ReceiptLine[] = [];
  const paths = new Set(lines.map(({ path }) => path));
  for (const note of notes) {
    const place = nearest(note.path, paths);
    if (place === undefined) others.push(note);
    else noted.set(place, [...(noted.get(place) ?? []), note]);
  }
  return {
    lines: lines.map(({ text: line, path, leaf, isEnd }) => ({
      text: line,
      isMarked: leaf !== undefined && there !== undefined && !there.has(leaf),
      notes: isEnd === true ? [] : (noted.get(path) ?? []),
    })),
    others,
  };
}

function parse(text: string): Value | undefined {
  try {
    // JSON gives nothing else, here and below.
    return JSON.parse(text) as Value;
  } catch {
    return parseEvents(text);
  }
}

/** The events of a stream as a list: lines of JSON, or server-sent events (HTML standard, "Server-sent events"). */
function parseEvents(text: string): Value | undefined {
  const events = text
    .split('\n')
    .filter((line) => line !== '' && !/^(?::|event:|id:|retry:|data: ?\[DONE\])/.test(line))
    .map((line) => line.replace(/^data: ?/, ''));
  try {
    return events.map((event) => JSON.parse(event) as Value);
  } catch {
    return undefined;
  }
}

interface Line {
  readonly text: string;
  /** As receipts write it, such as `messages[2].content`. */
  readonly path: string;
  /** The value on this line, as JSON; absent of what only opens or closes. */
  readonly leaf?: string;
  readonly isEnd?: true;
}

interface Place {
  readonly path: string;
  /** What stands in front of the value and behind it. */
  readonly before: string;
  readonly after: string;
  readonly depth: number;
}

function* linesOf(value: Value, { path, before, after, depth }: Place): Generator<Line> {
  const indent = INDENT.repeat(depth);
  if (typeof value !== 'object' || value === null) {
    const leaf = JSON.stringify(value);
    yield { text: `${indent}${before}${leaf}${after}`, path, leaf };
    return;
  }
  const isList = isArray(value);
  const [open, close] = isList ? '[]' : '{}';
  const members = isList
    ? value.map((one, index) => [`${path}[${index}]`, '', one] as const)
    : Object.entries(value).map(
        ([name, one]) =>
          [path === '' ? name : `${path}.${name}`, `${JSON.stringify(name)}: `, one] as const,
      );
  if (members.length === 0) {
    yield { text: `${indent}${before}${open}${close}${after}`, path };
    return;
  }
  yield { text: `${indent}${before}${open}`, path };
  for (const [index, [inner, name, one]] of members.entries()) {
    const comma = index < members.length - 1 ? ',' : '';
    yield* linesOf(one, { path: inner, before: name, after: comma, depth: depth + 1 });
  }
  yield { text: `${indent}${close}${after}`, path, isEnd: true };
}

function* leavesOf(value: Value): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else for (const one of isArray(value) ? value : Object.values(value)) yield* leavesOf(one);
}

function isArray(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The path itself, else the nearest one around it that there is. */
function nearest(path: string, known: ReadonlySet<string>): string | undefined {
  for (let at = path; at !== ''; at = at.replace(/(?:\.[^.[\]]+|\[\d+\]|^[^.[\]]+)$/, '')) {
    if (known.has(at)) return at;
    if (!/[.[]/.test(at)) break;
  }
  return undefined;
}

export interface MarkedPiece {
  readonly text: string;
  readonly isMarked: boolean;
  /** Stand below it. */
  readonly notes: readonly ReceiptLine[];
}

/** Lines that are shown alike as one piece: a body may have many thousands. */
export function joinLines(lines: readonly MarkedLine[]): readonly MarkedPiece[] {
  const pieces: { text: string[]; isMarked: boolean; notes: readonly ReceiptLine[] }[] = [];
  for (const { text, isMarked, notes } of lines) {
    const last = pieces.at(-1);
    if (last !== undefined && last.isMarked === isMarked && last.notes.length === 0) {
      last.text.push(text);
      last.notes = notes;
    } else pieces.push({ text: [text], isMarked, notes });
  }
  return pieces.map(({ text, ...piece }) => ({ ...piece, text: text.join('\n') }));
}
