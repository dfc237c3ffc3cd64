// Tables for people, of values that may come from anywhere.

/** Columns as wide as their widest cell; the head in capitals. */
export function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(plain))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column]))));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Without what a terminal would obey: control characters, and marks that turn the writing around. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

function widthOf(cell: string | undefined): number {
  return [...(cell ?? '')].length;
}
