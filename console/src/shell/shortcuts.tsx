// Keys: `g` and a letter open a page, `/` goes to the search, `?` lists them all.

import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { later } from '../components/later.tsx';
import { PAGES } from '../pages.ts';

const ShortcutList = later(async () => (await import('./shortcut-list.tsx')).ShortcutList);

/** How long `g` waits for its letter. */
const PATIENCE_MS = 1500;

export function Shortcuts() {
  const navigate = useNavigate();
  const [isListed, setListed] = useState(false);
  const [wasListed, setWasListed] = useState(false);
  const leaderAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const isSecond = event.timeStamp - leaderAt.current < PATIENCE_MS;
      leaderAt.current = Number.NEGATIVE_INFINITY;
      const page = isSecond ? PAGES.find(({ letter }) => letter === event.key) : undefined;
      if (page !== undefined) void navigate({ to: page.path });
      else if (event.key === 'g') leaderAt.current = event.timeStamp;
      else if (event.key === '?') {
        setListed(true);
        setWasListed(true);
      } else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate]);
  return wasListed ? <ShortcutList isOpen={isListed} onClose={() => setListed(false)} /> : null;
}

/** Keys belong to fields, to open dialogs and to the browser first. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]');
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLElement>('[data-page-search]');
  field?.focus();
  return field !== null;
}
