// Keys: `g` and a letter open a page, `/` goes to the search, `?` lists them all.

import { Kbd, Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Fragment, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PAGES } from '../pages.ts';
import './shortcuts.css';

/** How long `g` waits for its letter. */
const PATIENCE_MS = 1500;

export function Shortcuts() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [isListed, setListed] = useState(false);
  const leaderAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const isSecond = event.timeStamp - leaderAt.current < PATIENCE_MS;
      leaderAt.current = Number.NEGATIVE_INFINITY;
      const page = isSecond ? PAGES.find(({ letter }) => letter === event.key) : undefined;
      if (page !== undefined) void navigate({ to: page.path });
      else if (event.key === 'g') leaderAt.current = event.timeStamp;
      else if (event.key === '?') setListed(true);
      else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate]);
  const lines: readonly (readonly [keys: readonly string[], text: string])[] = [
    ...PAGES.map(
      ({ name, letter }) =>
        [['g', letter], t('shell.shortcutGo', { page: t(`shell.pages.${name}`) })] as const,
    ),
    [['/'], t('shell.shortcutSearch')],
    [['?'], t('shell.shortcutHelp')],
    [['Esc'], t('shell.shortcutClose')],
  ];
  return (
    <Modal
      opened={isListed}
      onClose={() => setListed(false)}
      title={t('shell.shortcuts')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <dl className="shortcuts">
        {lines.map(([keys, text]) => (
          <Fragment key={text}>
            <dt>{text}</dt>
            <dd>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && <span> {t('shell.afterwards')} </span>}
                  <Kbd>{key}</Kbd>
                </Fragment>
              ))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Modal>
  );
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
