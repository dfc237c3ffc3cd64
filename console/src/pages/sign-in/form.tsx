// Signs this browser in.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { sessionQuery, useSignIn } from '../../api/queries/session.ts';
import { PasswordForm } from '../../components/password-form.tsx';
import { ProviderButton } from '../../components/provider-button.tsx';

export function SignInForm() {
  const { t } = useTranslation();
  const { error, isPending, mutate } = useSignIn();
  const { data } = useQuery(sessionQuery);
  const [name, setName] = useState('');
  const trimmed = name.trim();
  return (
    <>
      <PasswordForm
        error={error}
        isPending={isPending}
        action={t('signIn.submit')}
        onPassword={(password) =>
          mutate({ password, ...(trimmed === '' ? {} : { name: trimmed }) })
        }
        {...(data?.asksName === true && { name: { value: name, onChange: setName } })}
      />
      <ProviderButton />
    </>
  );
}
