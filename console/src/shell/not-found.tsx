// What stands at an address that is no page.

import { IconMapOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../components/empty-note.tsx';
import { LinkButton } from '../components/link-button.tsx';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconMapOff size={32} />}
      titleAs="h1"
      title={t('shell.notFound')}
      hint={t('shell.notFoundHint')}
      action={<LinkButton to="/">{t('shell.toOverview')}</LinkButton>}
    />
  );
}
