// In the place of what is not loaded: its outline, or why it cannot be loaded.

import { Skeleton, type SkeletonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from './error-note.tsx';

interface NotLoadedProps extends SkeletonProps {
  /** Null while it is being loaded. */
  readonly error: unknown;
  readonly onRetry: () => void;
  /** Where it is most of a page, so that no title above says what is missing. */
  readonly isMain?: boolean;
  /** In place of one box. */
  readonly outline?: ReactNode;
}

export function NotLoaded({ error, onRetry, isMain, outline, ...box }: NotLoadedProps) {
  const { t } = useTranslation();
  if (error === null) return outline ?? <Skeleton {...box} />;
  const title = isMain ? { title: t('common.failedToLoad') } : {};
  return <ErrorNote error={error} onRetry={onRetry} {...title} />;
}
