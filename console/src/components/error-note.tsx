// A failure in place: what went wrong, the field it is about, and a way to try again.

import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isUnreachable } from '../api/client.ts';
import { useErrorText } from './use-error-text.ts';
import { useFailureTitle } from './use-refusal-words.ts';

export interface ErrorNoteProps {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** One that offers no retry belongs to a form, and comes into view where that is longer than its drawer. */
export function ErrorNote({ error, title, onRetry }: ErrorNoteProps) {
  const { t } = useTranslation();
  const text = useErrorText();
  const titleOf = useFailureTitle();
  const place = useRef<HTMLDivElement>(null);
  const isOfForm = onRetry === undefined;
  useEffect(() => {
    if (isOfForm && error !== null) place.current?.scrollIntoView({ block: 'nearest' });
  }, [error, isOfForm]);
  return (
    <Alert
      ref={place}
      className="error-note"
      role="alert"
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} />}
      title={title ?? titleOf(error)}
    >
      <span className="wrap-anywhere">
        {!isOfForm && isUnreachable(error) ? t('common.unreachableYet') : text(error)}
      </span>
      {!isOfForm && (
        <div>
          <Button mt="xs" size="xs" variant="default" onClick={onRetry}>
            {t('common.retry')}
          </Button>
        </div>
      )}
    </Alert>
  );
}
