// What somebody sees who opens the link of an invitation: how they get their sign-in, or their key.

import { Button, Loader } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey, OpenedInvitation } from '../../../../src/admin/contract.ts';
import { openedQuery, useAcceptInvitation } from '../../api/queries/people.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useNow } from '../../components/now.tsx';
import { ProviderButton } from '../../components/provider-button.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useFormat } from '../../components/use-format.ts';
import { Snippets } from '../keys/created-key.tsx';
import { Card } from '../sign-in/page.tsx';
import '../../components/form.css';
import '../../components/once-secret.css';

export function JoinPage() {
  const { t } = useTranslation();
  // Behind the `#`, which browsers send to nobody.
  const [secret] = useState(() => window.location.hash.slice(1));
  const [key, setKey] = useState<CreatedKey>();
  const { data, error } = useQuery({ ...openedQuery(secret), enabled: secret !== '' });
  if (key !== undefined) return <OwnKey created={key} />;
  if (secret === '') {
    return (
      <Card title={t('people.join.gone')}>
        <p>{t('people.join.missing')}</p>
      </Card>
    );
  }
  if (error !== null) {
    return (
      <Card title={t('people.join.gone')}>
        <ErrorNote error={error} />
      </Card>
    );
  }
  return (
    <Card title={t('people.join.title')}>
      {data === undefined ? (
        <Loader aria-label={t('common.loading')} />
      ) : (
        <Offer opened={data} secret={secret} onKey={setKey} />
      )}
    </Card>
  );
}

interface OfferProps {
  readonly opened: OpenedInvitation;
  readonly secret: string;
  readonly onKey: (created: CreatedKey) => void;
}

function Offer({ opened, secret, onKey }: OfferProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  const { kind, name, role = 'viewer', expiresAt } = opened;
  return (
    <div className="form-stack">
      <p className="form-note">
        {kind === 'key'
          ? t('people.join.key', { name })
          : t('people.join.person', { name, role: t(`roles.names.${role}`) })}
      </p>
      {kind === 'key' ? (
        <ShowKey secret={secret} onKey={onKey} />
      ) : (
        <>
          <ChoosePassword secret={secret} name={name} />
          <ProviderButton invitation={secret} />
        </>
      )}
      <p className="form-note">
        {t('people.join.expires', { time: format.relative(expiresAt, now) })}
      </p>
    </div>
  );
}

function ShowKey({ secret, onKey }: Pick<OfferProps, 'secret' | 'onKey'>) {
  const { t } = useTranslation();
  const { error, isPending, mutateAsync } = useAcceptInvitation();
  const accept = (): void =>
    void mutateAsync({ secret }).then(
      ({ key }) => {
        if (key !== undefined) onKey(key);
      },
      () => undefined,
    );
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Button size="md" fullWidth loading={isPending} onClick={accept} data-autofocus>
        {t('people.join.showKey')}
      </Button>
    </>
  );
}

const MIN_PASSWORD = 8;

function ChoosePassword({ secret, name }: { readonly secret: string; readonly name: string }) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const { error, isPending, mutateAsync } = useAcceptInvitation();
  const isShort = [...password].length < MIN_PASSWORD;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isShort) return;
    void mutateAsync({ secret, password }).then(
      () => window.location.assign('/'),
      () => undefined,
    );
  };
  return (
    <form className="form-stack" onSubmit={submit}>
      <input
        className="visually-hidden"
        type="text"
        name="username"
        autoComplete="username"
        value={name}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <SecretInput
        label={t('people.join.newPassword')}
        description={t('people.join.newPasswordHint')}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        autoComplete="new-password"
        autoFocus
        size="md"
      />
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" size="md" fullWidth loading={isPending} disabled={isShort}>
        {t('people.join.accept')}
      </Button>
    </form>
  );
}

/** It is shown this once: the page asks before it goes while nobody has copied it. */
function OwnKey({ created }: { readonly created: CreatedKey }) {
  const { t } = useTranslation();
  const [isTaken, setTaken] = useState(false);
  useWindowEvent('beforeunload', (event) => {
    if (!isTaken) event.preventDefault();
  });
  return (
    <Card isWide title={t('people.join.keyTitle', { name: created.key.name })}>
      <div className="form-stack">
        <p className="form-note">{t('keys.createdHint')}</p>
        <div className="secret-box">
          <code>{created.secret}</code>
          <CopyButton
            isFirst
            text={created.secret}
            label={t('keys.copySecret')}
            onCopied={() => setTaken(true)}
          />
        </div>
        <Snippets created={created} address={window.location.origin} models={[]} />
      </div>
    </Card>
  );
}
