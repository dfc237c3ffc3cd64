// Copies a text, also where the page came over plain http and the clipboard API is missing.

import { ActionIcon, Button } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Hint } from './hint.tsx';
import { useToasts } from './use-toasts.tsx';

const SHOWN_MS = 1600;

function useCopy(text: string, onCopied?: () => void) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = window.setTimeout(() => setCopied(false), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) {
      setCopied(true);
      onCopied?.();
    } else toasts.warn(t('common.copyFailed'));
  };
  return { isCopied, copy };
}

export interface CopyIconProps {
  readonly text: string;
  /** Says what is copied, for people who do not see the icon. */
  readonly label: string;
  readonly icon?: ReactNode;
  readonly size?: 'sm' | 'md';
}

export function CopyIcon({ text, label, icon, size = 'sm' }: CopyIconProps) {
  const { t } = useTranslation();
  const { isCopied, copy } = useCopy(text);
  const width = size === 'sm' ? 15 : 18;
  return (
    <Hint label={isCopied ? t('common.copied') : label}>
      <ActionIcon variant="subtle" color="gray" size={size} aria-label={label} onClick={copy}>
        {isCopied ? <IconCheck size={width} /> : (icon ?? <IconCopy size={width} />)}
      </ActionIcon>
    </Hint>
  );
}

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  /** Has the focus when its dialog opens, or when what had it gives way to this. */
  readonly isFirst?: boolean;
  readonly onCopied?: () => void;
}

export function CopyButton({ text, label, isFirst = false, onCopied }: CopyButtonProps) {
  const { t } = useTranslation();
  const { isCopied, copy } = useCopy(text, onCopied);
  return (
    <Button
      variant="default"
      data-autofocus={isFirst || undefined}
      onClick={copy}
      leftSection={isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />}
    >
      {isCopied ? t('common.copied') : label}
    </Button>
  );
}

/** False when the browser lets nobody copy. */
async function copyText(text: string): Promise<boolean> {
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
