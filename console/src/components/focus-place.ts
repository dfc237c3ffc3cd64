// Gives the focus back to the page when a dialog goes whose own opener is gone: an entry of a menu.

const DIALOG = '[role="dialog"][aria-modal="true"]';
const OVER_THE_PAGE = `${DIALOG}, [role="menu"]`;
/** By then a dialog that knows its opener has given the focus back itself. */
const GIVEN_BACK_MS = 30;

export function keepFocusPlace(): void {
  let place: HTMLElement | undefined;
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && target.closest(OVER_THE_PAGE) === null) place = target;
  });
  const restore = (): void => {
    if (document.activeElement !== document.body) return;
    if (document.querySelector(DIALOG) === null) place?.focus();
  };
  new MutationObserver((changes) => {
    const hasLost = changes.some(({ removedNodes }) => [...removedNodes].some(holdsDialog));
    if (hasLost) setTimeout(restore, GIVEN_BACK_MS);
  }).observe(document.body, { childList: true, subtree: true });
}

function holdsDialog(node: Node): boolean {
  return node instanceof Element && (node.matches(DIALOG) || node.querySelector(DIALOG) !== null);
}
