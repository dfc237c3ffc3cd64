// Signs this browser in.

import { useTranslation } from 'react-i18next';
import { useSignIn } from '../../api/queries/session.ts';
import { PasswordForm } from '../../components/password-form.tsx';

export function SignInForm() {
  const { t } = useTranslation();
  const { error, isPending, mutate } = useSignIn();
  return (
    <PasswordForm
      error={error}
      isPending={isPending}
      action={t('signIn.submit')}
      onPassword={(password) => mutate(password)}
    />
  );
}
