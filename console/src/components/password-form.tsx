// Asks for the console password and says why it was refused.

import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError, isWrongPassword } from '../api/client.ts';
import { SecretInput } from './secret-input.tsx';
import { useErrorText } from './use-error-text.ts';
import './form.css';

export interface PasswordFormProps {
  /** Of the last try. */
  readonly error: Error | null;
  readonly isPending: boolean;
  /** The word on the button. */
  readonly action: string;
  readonly onPassword: (password: string) => void;
  /** Where people sign in with names, too. */
  readonly name?: { readonly value: string; readonly onChange: (value: string) => void };
}

export function PasswordForm({ error, isPending, action, onPassword, name }: PasswordFormProps) {
  const { t } = useTranslation();
  const [password, setPassword] = useState('');
  const waitSeconds = useWait(error);
  const message = useRefusal(error, waitSeconds, name !== undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (password !== '' && waitSeconds === 0) onPassword(password);
  };
  return (
    <form onSubmit={submit} className="form-stack">
      {name === undefined ? (
        // Password stores want a name to keep the password under.
        <input
          className="visually-hidden"
          type="text"
          name="username"
          autoComplete="username"
          value="isthmus"
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
      ) : (
        <TextInput
          label={t('signIn.name')}
          description={t('signIn.nameHint')}
          name="username"
          autoComplete="username"
          value={name.value}
          maxLength={128}
          onChange={(event) => name.onChange(event.currentTarget.value)}
          data-autofocus
          autoFocus
          size="md"
        />
      )}
      <SecretInput
        label={t('signIn.password')}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={message}
        autoComplete="current-password"
        {...(name === undefined && { 'data-autofocus': true, autoFocus: true })}
        size="md"
      />
      <Button
        type="submit"
        size="md"
        fullWidth
        loading={isPending}
        disabled={password === '' || waitSeconds > 0}
      >
        {action}
      </Button>
    </form>
  );
}

/** Seconds until the gateway takes another try. */
function useWait(error: Error | null): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
    setLeft(seconds);
    if (seconds === 0) return undefined;
    const timer = window.setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1000);
    return () => window.clearInterval(timer);
  }, [error]);
  return left;
}

function useRefusal(
  error: Error | null,
  waitSeconds: number,
  hasName: boolean,
): string | undefined {
  const { t } = useTranslation();
  const text = useErrorText();
  if (error === null) return undefined;
  if (!(error instanceof ApiError)) return text(error);
  if (error.status === 401) return t(hasName ? 'signIn.wrongName' : 'signIn.wrong');
  if (isWrongPassword(error)) return t('signIn.wrongAgain');
  if (error.status !== 429 || error.retryAfterSeconds === undefined) return text(error);
  return waitSeconds > 0 ? t('signIn.tooMany', { count: waitSeconds }) : undefined;
}
