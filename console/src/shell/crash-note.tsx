// What stands in place of a page that failed.

import { Button, Code } from '@mantine/core';
import { IconBug } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../components/empty-note.tsx';

export function CrashNote({ error }: { readonly error: unknown }) {
  const { t } = useTranslation();
  return (
    <div role="alert">
      <EmptyNote
        icon={<IconBug size={32} />}
        title={t('shell.crashed')}
        hint={t('shell.crashedHint')}
        action={<Button onClick={() => window.location.reload()}>{t('shell.reload')}</Button>}
      />
      <Code block>{error instanceof Error ? error.message : String(error)}</Code>
    </div>
  );
}
