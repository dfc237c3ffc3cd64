// The pieces of markup the reference page is made of.

import { escapeHtml } from '../lib/html.ts';

/** Running text as markup; what stands between backticks is code. */
export function htmlText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** A table of rows whose cells are markup already; nothing when there are no rows. */
export function htmlTable(caption: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const written = rows.map(([head = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${head}</th>${rest}</tr>`;
  });
  return `<table><caption>${escapeHtml(caption)}</caption>${written.join('')}</table>`;
}
