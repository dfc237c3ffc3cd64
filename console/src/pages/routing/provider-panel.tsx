// The settings of the external provider, kept until requests can go to it.

import { Alert, Skeleton } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sectionQuery } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { ProviderForm } from './provider-form.tsx';

export function ProviderPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sectionQuery('extprov'));
  return (
    <Panel title={t('provider.title')} hint={t('provider.hint')}>
      <div className="form-stack provider">
        <Alert
          color="yellow"
          variant="light"
          icon={<IconInfoCircle size={18} />}
          title={t('provider.inactive')}
        >
          {t('provider.inactiveHint')}
        </Alert>
        {data === undefined && error === null && <Skeleton height={420} />}
        {data === undefined && error !== null && (
          <ErrorNote error={error} onRetry={() => void refetch()} />
        )}
        {data !== undefined && <ProviderForm section={data} />}
      </div>
    </Panel>
  );
}
