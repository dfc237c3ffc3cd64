// A failure in place: what went wrong, the field it is about, and a way to try again.

import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useErrorText } from './use-error-text.ts';

export interface ErrorNoteProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => void;
}

export function ErrorNote({ error, title, onRetry }: ErrorNoteProps) {
  const { t } = useTranslation();
  const text = useErrorText();
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={title ?? t('common.failed')}
    >
      <span className="wrap-anywhere">{text(error)}</span>
      {onRetry !== undefined && (
        <div>
          <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
            {t('common.retry')}
          </Button>
        </div>
      )}
    </Alert>
  );
}
