// What a browser sees that is not signed in.

import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Logo } from '../../shell/logo.tsx';
import { Preferences } from '../../shell/preferences.tsx';
import { SignInForm } from './form.tsx';
import './page.css';

export function SignInPage() {
  const { t } = useTranslation();
  return (
    <Card title={t('signIn.title')}>
      <SignInForm />
      <p>{t('signIn.hint')}</p>
      <p>{t('signIn.linkHint')}</p>
    </Card>
  );
}

/** For a browser that no password would help: there is none. */
export function ElsewherePage() {
  const { t } = useTranslation();
  return (
    <Card title={t('signIn.elsewhereTitle')}>
      <p>{t('signIn.elsewhere')}</p>
      <p>{t('signIn.elsewhereProxy')}</p>
    </Card>
  );
}

export interface CardProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, isWide = false, children }: CardProps) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = t('shell.title', { page: title });
  }, [t, title]);
  return (
    <main className="sign-in">
      <div className={isWide ? 'sign-in-card join-key' : 'sign-in-card'}>
        <Logo />
        <h1>{title}</h1>
        {children}
      </div>
      <Preferences />
    </main>
  );
}
