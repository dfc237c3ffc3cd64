// Short notices at the edge of the page: what was done, with a way back where there is one.

import { Button } from '@mantine/core';
import {
  hideNotification,
  type NotificationData,
  notificationsStore,
  showNotification,
} from '@mantine/notifications';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { isSignedOut } from '../api/client.ts';
import { useErrorText } from './use-error-text.ts';
import { useFailureTitle } from './use-refusal-words.ts';

export interface Toasts {
  done(message: string): void;
  /** `undo` runs at most once, while the notice is there. */
  doneWithUndo(message: string, undo: () => void): void;
  warn(message: string): void;
  /** Of something that was done, but will not work. */
  warnWithUndo(message: string, undo: () => void): void;
  failed(error: unknown): void;
}

const NEWS = 'accent';
const MAX_NEWS = 2;
const SHORT_MS = 4000;
const UNDO_MS = 10_000;
const FAILED_MS = 12_000;

export function useToasts(): Toasts {
  const { t } = useTranslation();
  const text = useErrorText();
  const titleOf = useFailureTitle();
  const withUndo = useCallback(
    (show: typeof showNews, message: string, undo: () => void): void => {
      const id = show({
        autoClose: UNDO_MS,
        message: (
          <span className="toast-line">
            <span className="wrap-anywhere">{message}</span>
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => {
                hideNotification(id);
                undo();
              }}
            >
              {t('common.undo')}
            </Button>
          </span>
        ),
      });
    },
    [t],
  );
  return useMemo(
    () => ({
      doneWithUndo: (message, undo) => withUndo(showNews, message, undo),
      warnWithUndo: (message, undo) => withUndo(showWarning, message, undo),
      done: (message) => {
        showNews({ autoClose: SHORT_MS, message: plain(message) });
      },
      warn: (message) => {
        showWarning({ autoClose: FAILED_MS, message: plain(message) });
      },
      failed: (error) => {
        showNotification({
          color: 'red',
          // Read only once somebody has signed in again, however long that takes.
          autoClose: isSignedOut(error) ? false : FAILED_MS,
          title: titleOf(error),
          message: plain(text(error)),
        });
      },
    }),
    [withUndo, text, titleOf],
  );
}

/** What was done long ago makes room for what was done last; troubles stay beside it. */
function showNews(notice: NotificationData): string {
  const { notifications, queue } = notificationsStore.getState();
  const news = [...notifications, ...queue].filter(({ color }) => color === NEWS);
  for (const { id } of news.slice(0, Math.max(0, news.length - MAX_NEWS + 1))) {
    if (id !== undefined) hideNotification(id);
  }
  return showNotification({ ...notice, color: NEWS });
}

function showWarning(notice: NotificationData): string {
  return showNotification({ ...notice, color: 'yellow' });
}

function plain(message: string) {
  return <span className="wrap-anywhere">{message}</span>;
}
