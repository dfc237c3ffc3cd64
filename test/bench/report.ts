// The bench's table: one row per figure, with its budget and whether that was kept.

export interface Row {
  readonly name: string;
  readonly figure: string;
  readonly budget?: string;
  /** Undefined for a figure without a budget. */
  readonly isKept?: boolean;
}

/** A figure that must not be larger than its budget. */
export function atMost(
  name: string,
  { value, most, show }: { value: number; most: number; show: (value: number) => string },
): Row {
  return { name, figure: show(value), budget: `≤ ${show(most)}`, isKept: value <= most };
}

/** Lays the rows out in columns; a missed budget is marked OVER. */
export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [markOf(row), row.name, row.figure, row.budget ?? '']);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function countMissed(rows: readonly Row[]): number {
  return rows.filter((row) => row.isKept === false).length;
}

function markOf(row: Row): string {
  if (row.isKept === undefined) return '';
  return row.isKept ? 'ok' : 'OVER';
}
