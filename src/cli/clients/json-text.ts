// Settings in JSON, with the comments and trailing commas that many programs take there.

import {
  applyEdits,
  type FormattingOptions,
  findNodeAtLocation,
  modify,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
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
  for (const step of path) {
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
  const style = formattingOptions === undefined ? {} : { formattingOptions };
  const options = isArrayInsertion === true ? { ...style, isArrayInsertion } : style;
  return applyEdits(text, modify(text, steps, value, options));
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
