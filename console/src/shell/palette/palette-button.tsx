// Opens the palette: by its button, or by Ctrl or Command and K.

import { UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import './palette-button.css';

export const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function PaletteButton({ onOpen }: { readonly onOpen: () => void }) {
  const { t } = useTranslation();
  return (
    <UnstyledButton
      className="palette-button"
      aria-haspopup="dialog"
      aria-keyshortcuts={IS_APPLE ? 'Meta+K' : 'Control+K'}
      onClick={onOpen}
    >
      <IconSearch size={16} aria-hidden="true" />
      <span className="palette-button-text">{t('shell.palette')}</span>
      <span className="palette-button-keys" aria-hidden="true">
        {IS_APPLE ? '⌘K' : 'Ctrl K'}
      </span>
    </UnstyledButton>
  );
}

/** What is typed behind the key until the field is there; undefined where nothing is kept. */
let early: string | undefined;

/** From then on the field itself is typed into. */
export function takeEarly(): string {
  const typed = early ?? '';
  early = undefined;
  return typed;
}

function keepEarly(event: KeyboardEvent): void {
  if (early === undefined || event.key === 'Shift') return;
  if (event.key.length > 1 || event.metaKey || event.ctrlKey || event.altKey) {
    early = undefined;
    return;
  }
  early += event.key;
  event.preventDefault();
  event.stopPropagation();
}

/** Not over an open dialog: what is typed there would be left. */
export function usePaletteKey(onOpen: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isMeant = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
      if (!isMeant || event.altKey || event.shiftKey || event.defaultPrevented) return;
      event.preventDefault();
      if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return;
      early = '';
      onOpen();
    };
    window.addEventListener('keydown', onKey);
    window.addEventListener('keydown', keepEarly, true);
    // Who goes elsewhere meanwhile types there.
    window.addEventListener('pointerdown', takeEarly, true);
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('keydown', keepEarly, true);
      window.removeEventListener('pointerdown', takeEarly, true);
    };
  }, [onOpen]);
}
