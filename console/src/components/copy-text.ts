// Puts a text on the clipboard, with the old way where the new one is not allowed.

/** False when the browser lets nobody copy. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Missing on pages that came over plain http from another machine.
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused: the old way may still work.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const active = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.className = 'visually-hidden';
  // Inside an open dialog, else its focus trap takes the selection away.
  const host = active?.closest('[role="dialog"]') ?? document.body;
  host.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    if (active instanceof HTMLElement) active.focus();
  }
}
