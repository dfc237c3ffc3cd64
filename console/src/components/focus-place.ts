// Gives the focus back that nobody took away: a dialog whose own opener is gone closed, a button was disabled while it
// worked, or was removed with a step of a dialog.

const DIALOG = '[role="dialog"][aria-modal="true"]';
const OVER_THE_PAGE = `${DIALOG}, [role="menu"]`;
/** By then a dialog that knows its opener has given the focus back itself. */
const GIVEN_BACK_MS = 30;

export function keepFocusPlace(): void {
  /** Of the page, not of what is over it. */
  let place: HTMLElement | undefined;
  /** What has the focus, or had it until it was disabled or removed. */
  let focused: HTMLElement | undefined;
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    focused = target;
    if (target.closest(OVER_THE_PAGE) === null) place = target;
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    if (relatedTarget !== null) return;
    // An element that is being removed is still in the page.
    setTimeout(() => {
      if (focused === target && isUsable(focused)) focused = undefined;
    });
  });
  const restore = (): void => {
    if (document.activeElement !== document.body) return;
    const dialog = [...document.querySelectorAll<HTMLElement>(DIALOG)].at(-1);
    const home = dialog ?? document.getElementById('content');
    if (focused?.isConnected === true) {
      // It may still be at work.
      if (isUsable(focused)) focused.focus({ preventScroll: true });
    } else if (dialog === undefined && place?.isConnected === true) place.focus();
    else (home?.querySelector<HTMLElement>('[data-autofocus]') ?? home)?.focus();
  };
  new MutationObserver((changes) => {
    const isLost = focused !== undefined && document.activeElement === document.body;
    const hasClosed = changes.some(({ removedNodes }) => [...removedNodes].some(holdsDialog));
    if (isLost || hasClosed) setTimeout(restore, GIVEN_BACK_MS);
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

function isUsable(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(':disabled');
}

function holdsDialog(node: Node): boolean {
  return node instanceof Element && (node.matches(DIALOG) || node.querySelector(DIALOG) !== null);
}
