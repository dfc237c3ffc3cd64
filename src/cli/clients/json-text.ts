// Settings in JSON, with the comments and trailing commas that many programs take there.

import {
  applyEdits,
  type Edit,
  type FormattingOptions,
  findNodeAtLocation,
  format,
  modify,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
  type Range,
  visit,
} from 'jsonc-parser';
import {
  type Change,
  eolOf,
  isItem,
  lineAt,
  SettingsError,
  type Tree,
  valueAt,
} from './settings-tree.ts';

/** @throws SettingsError naming the line */
export function readJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined || text.trim() === '') return value;
  const reason = printParseErrorCode(first.error);
  throw new SettingsError(`Line ${lineAt(text, first.offset)} is no JSON (${reason}).`);
}

export function changeJson(text: string, tree: Tree, { path, value }: Change): string {
  const formattingOptions = isInOneLine(text, path) ? undefined : styleOf(text);
  const steps: (string | number)[] = [];
  for (const [depth, step] of path.entries()) {
    if (typeof step === 'string') {
      steps.push(step);
      continue;
    }
    const list = valueAt(tree, path.slice(0, depth));
    // Items are the last steps of their paths.
    if (!Array.isArray(list)) return apply(text, steps, [value], { formattingOptions });
    const index = list.findIndex((item) => isItem(item, step));
    const isArrayInsertion = index === -1;
    return apply(text, [...steps, Math.max(0, index)], value, {
      formattingOptions,
      isArrayInsertion,
    });
  }
  return apply(text, steps, value, { formattingOptions });
}

export function hasComments(text: string): boolean {
  let found = false;
  visit(text, {
    onComment: () => {
      found = true;
    },
  });
  return found;
}

/** What stands in one line stays there. */
function isInOneLine(text: string, path: Change['path']): boolean {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return false;
  let inner = root;
  for (const step of path.slice(0, -1)) {
    const found = typeof step === 'string' ? findNodeAtLocation(inner, [step]) : undefined;
    if (found?.type !== 'object' && found?.type !== 'array') break;
    inner = found;
  }
  const written = text.slice(inner.offset, inner.offset + inner.length);
  return (inner.children ?? []).length > 0 && !written.includes('\n');
}

function apply(
  text: string,
  steps: (string | number)[],
  value: unknown,
  { formattingOptions, isArrayInsertion }: Style,
): string {
  const edits = modify(text, steps, value, isArrayInsertion === true ? { isArrayInsertion } : {});
  const next = applyEdits(text, edits);
  const [edit] = edits;
  if (formattingOptions === undefined || edit === undefined) return next;
  return applyEdits(next, format(next, rangeOf(next, edit), formattingOptions));
}

/** What an edit put there; where nothing stood or stands there, with the space around it. The library would take whole lines. */
function rangeOf(next: string, { offset, length, content }: Edit): Range {
  let [start, end] = [offset, offset + content.length];
  if (length > 0 && content !== '') return { offset: start, length: end - start };
  const isSpace = (at: number): boolean => /\s/.test(next[at] ?? '');
  while (isSpace(start - 1)) start -= 1;
  while (isSpace(end)) end += 1;
  return { offset: start - 1, length: end - start + 2 };
}

interface Style {
  readonly formattingOptions: FormattingOptions | undefined;
  readonly isArrayInsertion?: boolean;
}

/** New lines look as the old ones do. */
function styleOf(text: string): FormattingOptions {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: eolOf(text) };
}
