// Settings in JSON, with the comments and trailing commas that many programs take there.

import {
  applyEdits,
  type FormattingOptions,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
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
  const formattingOptions = styleOf(text);
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

function apply(
  text: string,
  steps: (string | number)[],
  value: unknown,
  options: Parameters<typeof modify>[3],
): string {
  return applyEdits(text, modify(text, steps, value, options));
}

/** New lines look as the old ones do. */
function styleOf(text: string): FormattingOptions {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: eolOf(text) };
}
