// What stands in place of a page that failed, or whose code did not come.

import { Button, Code } from '@mantine/core';
import { IconBug, IconPlugConnectedX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '../api/queries/session.ts';
import { EmptyNote } from '../components/empty-note.tsx';
import { PageLoadError, reloadOnce } from './load-page.ts';

export function CrashNote({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  if (error instanceof PageLoadError) return <NotLoadedNote />;
  return (
    <div role="alert">
      <EmptyNote
        icon={<IconBug size={32} />}
        title={t('shell.crashed')}
        hint={t('shell.crashedHint')}
        action={<ReloadButton />}
      />
      <Code block>{error instanceof Error ? error.message : String(error)}</Code>
    </div>
  );
}

/** Goes on by itself when the gateway is there again. */
function NotLoadedNote() {
  const { t } = useTranslation();
  const { refetch, isSuccess, isFetchedAfterMount, isFetching } = useQuery(sessionQuery);
  useEffect(() => void refetch(), [refetch]);
  const isBack = isSuccess && isFetchedAfterMount && !isFetching;
  useEffect(() => {
    if (isBack) reloadOnce();
  }, [isBack]);
  return (
    <div role="alert">
      <EmptyNote
        icon={<IconPlugConnectedX size={32} />}
        title={t('shell.notLoaded')}
        hint={t('shell.notLoadedHint')}
        action={isBack ? <ReloadButton /> : undefined}
      />
    </div>
  );
}

function ReloadButton() {
  const { t } = useTranslation();
  return <Button onClick={() => window.location.reload()}>{t('shell.reload')}</Button>;
}
