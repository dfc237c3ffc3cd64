// What a browser sees that is not signed in.

import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Logo } from '../../shell/logo.tsx';
import { Preferences } from '../../shell/preferences.tsx';
import { SignInForm } from './form.tsx';
import './page.css';

export function SignInPage() {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = t('shell.title', { page: t('signIn.title') });
  }, [t]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <Logo />
        <h1>{t('signIn.title')}</h1>
        <SignInForm />
        <p>{t('signIn.hint')}</p>
        <p>{t('signIn.linkHint')}</p>
      </div>
      <Preferences />
    </main>
  );
}
