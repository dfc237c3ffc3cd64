// Goes to sign in at the OpenID Connect provider, where one is configured.

import { Button } from '@mantine/core';
import { IconLogin2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useProvider } from '../api/queries/people.ts';
import { sessionQuery } from '../api/queries/session.ts';
import { ErrorNote } from './error-note.tsx';

/** @param invitation the secret of the invitation that is accepted by it */
export function ProviderButton({ invitation }: { readonly invitation?: string }) {
  const { t } = useTranslation();
  const { data } = useQuery(sessionQuery);
  const { error, isPending, isSuccess, mutate } = useProvider();
  if (data?.provider === undefined) return null;
  return (
    <div className="form-stack provider-button">
      <Button
        variant="default"
        size="md"
        fullWidth
        leftSection={<IconLogin2 size={18} />}
        loading={isPending || isSuccess}
        onClick={() => mutate(invitation)}
      >
        {t('signIn.provider', { label: data.provider.label })}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
