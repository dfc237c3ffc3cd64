// Writes tables for spreadsheets (RFC 4180).

/** One line of a table, without its end. */
export function csvLine(cells: readonly (string | number | boolean | undefined)[]): string {
  return cells.map(writeCell).join(',');
}

/**
 * A text that a spreadsheet would take for a formula begins with an apostrophe: names of models come from clients.
 * A number is none of those, and a lone dash is none either.
 */
function writeCell(value: string | number | boolean | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const safe = /^[=+\-@\t\r\n]/.test(value) && value !== '-' ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
