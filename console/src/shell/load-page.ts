// Loads the code of a page, and tells one that did not come from one that failed.

/** The gateway is away, or has become another version since the console was opened. */
export class PageLoadError extends Error {
  override readonly name = 'PageLoadError';
}

/** @throws PageLoadError in words of ours: at those of browsers the router loads the document anew, which is not there either. */
export async function loadPage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new PageLoadError('The code of a page did not come.', { cause });
  }
}

const STORED_AT = 'isthmus-reloaded-at';
const MIN_MS = 30_000;

/** Loads the whole console anew, but not over and over when that does not help. */
export function reloadOnce(): void {
  const last = Number(sessionStorage.getItem(STORED_AT) ?? 0);
  if (Date.now() - last < MIN_MS) return;
  sessionStorage.setItem(STORED_AT, String(Date.now()));
  window.location.reload();
}
