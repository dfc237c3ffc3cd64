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

/** Not over an open dialog: what is typed there would be left. */
export function usePaletteKey(onOpen: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isMeant = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
      if (!isMeant || event.altKey || event.shiftKey || event.defaultPrevented) return;
      event.preventDefault();
      if (document.querySelector('[role="dialog"][aria-modal="true"]') === null) onOpen();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onOpen]);
}
