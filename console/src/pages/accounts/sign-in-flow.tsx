// Signs an account in at its provider: open the page there, come back, or finish by hand.

import { Alert, Button, Loader, TextInput } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account, SignInStart, StartedSignIn } from '../../../../src/admin/contract.ts';
import { isSignedOut } from '../../api/client.ts';
import { refreshAccounts } from '../../api/queries/accounts.ts';
import {
  isOver,
  signInQuery,
  useCancelSignIn,
  useCompleteSignIn,
  useStartSignIn,
} from '../../api/queries/sign-ins.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { TimeLeft } from '../../components/times.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import {
  type AddFormProps,
  type Upstream,
  UpstreamSelect,
  useUpstream,
} from './upstream-select.tsx';

export interface SignInFlowProps extends AddFormProps {
  readonly again: Account | undefined;
}

export function SignInFlow({ again, ...form }: SignInFlowProps) {
  const start = useStartSignIn();
  const { data: started } = start;
  return started === undefined ? (
    <Begin {...form} again={again} start={start} />
  ) : (
    <Underway
      started={started}
      isManual={start.variables?.redirect === 'manual'}
      onDone={form.onDone}
      onAgain={start.reset}
    />
  );
}

type Start = ReturnType<typeof useStartSignIn>;

function Begin({
  upstreams,
  isLoading,
  again,
  start,
}: SignInFlowProps & { readonly start: Start }) {
  const { t } = useTranslation();
  const [label, setLabel] = useState('');
  const suits = ({ id, canSignIn }: Upstream): boolean =>
    again === undefined ? canSignIn : id === again.upstream;
  const chosen = useUpstream(upstreams, suits);
  const { upstream } = chosen;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (upstream === undefined) return;
    start.mutate({
      upstream: upstream.id,
      redirect: redirectOf(upstream),
      ...(again === undefined ? {} : { accountId: again.id }),
      ...(label.trim() === '' ? {} : { label: label.trim() }),
    });
  };
  const canSignIn = upstream?.canSignIn ?? false;
  return (
    <form className="form-stack" onSubmit={submit}>
      {again !== undefined && (
        <p className="dialog-text wrap-anywhere">
          {t('addAccount.againHint', { name: again.label })}
        </p>
      )}
      {again === undefined && (
        <UpstreamSelect upstreams={upstreams} isLoading={isLoading} chosen={chosen} />
      )}
      {upstream !== undefined && !canSignIn && (
        <Alert color="yellow">{t('addAccount.cannotSignIn', { upstream: upstream.id })}</Alert>
      )}
      {again === undefined && (
        <TextInput
          label={`${t('addAccount.name')} (${t('common.optional')})`}
          description={t('addAccount.nameHint')}
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
      )}
      {start.error !== null && <ErrorNote error={start.error} />}
      <div className="dialog-actions">
        <Button
          type="submit"
          disabled={!canSignIn}
          loading={start.isPending}
          data-autofocus={canSignIn || undefined}
        >
          {t('addAccount.start')}
        </Button>
      </div>
    </form>
  );
}

/** The loopback address leads back to the gateway only from a browser on its own machine. */
function redirectOf({ redirectUrl }: Upstream): NonNullable<SignInStart['redirect']> {
  if (redirectUrl !== null) return 'public';
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(window.location.hostname);
  return isHere ? 'loopback' : 'manual';
}

interface UnderwayProps {
  readonly started: StartedSignIn;
  /** Nothing comes back by itself. */
  readonly isManual: boolean;
  readonly onDone: () => void;
  readonly onAgain: () => void;
}

function Underway({ started, isManual, onDone, onAgain }: UnderwayProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(signInQuery(started.state));
  const status = data?.status ?? 'pending';
  useCancelOnLeave(started.state, status === 'pending');
  useEffect(() => {
    if (status === 'done') void refreshAccounts(client);
  }, [status, client]);
  if (status === 'done') {
    const name = data?.account?.label ?? '';
    return (
      <div className="form-stack" role="status">
        <Alert color="green" title={t('addAccount.done', { name })}>
          {t('addAccount.doneHint')}
        </Alert>
        <div className="dialog-actions">
          <Button onClick={onDone} data-autofocus>
            {t('common.close')}
          </Button>
        </div>
      </div>
    );
  }
  if (status === 'failed' || isOver(error)) {
    return (
      <div className="form-stack">
        <ErrorNote
          title={t('addAccount.failed')}
          error={
            error ??
            new Error(data?.message === undefined ? t('common.unknown') : say(data.message))
          }
        />
        <div className="dialog-actions">
          <Button onClick={onAgain}>{t('addAccount.startOver')}</Button>
        </div>
      </div>
    );
  }
  return (
    <>
      {error !== null && !isSignedOut(error) && (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      )}
      <Steps started={started} isManual={isManual} />
    </>
  );
}

/** A sign-in nobody waits for any more is not left open. */
function useCancelOnLeave(state: string, isPending: boolean): void {
  const { mutate } = useCancelSignIn();
  const [isOpen] = useState({ pending: isPending });
  isOpen.pending = isPending;
  useEffect(
    () => () => {
      // It may have ended by itself meanwhile: then there is nothing to cancel.
      if (isOpen.pending) mutate(state, { onError: () => undefined });
    },
    [isOpen, mutate, state],
  );
}

function Steps({ started, isManual }: Pick<UnderwayProps, 'started' | 'isManual'>) {
  const { t } = useTranslation();
  const complete = useCompleteSignIn(started.state);
  const [pasted, setPasted] = useState('');
  const { authorizationUrl, expiresAt } = started;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    complete.mutate(pasted);
  };
  const [before = '', after = ''] = t('addAccount.expiresIn', { time: '\u0000' }).split('\u0000');
  return (
    <ol className="sign-in-steps">
      <li>
        <h3>{t('addAccount.openStep')}</h3>
        <div className="step-actions">
          <Button
            component="a"
            href={httpOnly(authorizationUrl)}
            target="_blank"
            rel="noopener noreferrer"
            rightSection={<IconExternalLink size={16} />}
          >
            {t('addAccount.openPage')}
          </Button>
          <CopyButton text={authorizationUrl} label={t('addAccount.copyLink')} />
        </div>
        <p className="dimmed small">
          {before}
          <TimeLeft until={expiresAt} />
          {after}
        </p>
      </li>
      <li>
        <h3>{t('addAccount.waitStep')}</h3>
        <p className="waiting" role="status">
          <Loader size="xs" aria-hidden="true" />
          {t(isManual ? 'addAccount.manualWait' : 'addAccount.waiting')}
        </p>
      </li>
      <li>
        <h3>{t('addAccount.pasteStep')}</h3>
        <p className="dimmed small">{t('addAccount.pasteHint')}</p>
        <form className="paste-line" onSubmit={submit}>
          <TextInput
            aria-label={t('addAccount.pasteLabel')}
            placeholder={t('addAccount.pasteLabel')}
            autoComplete="off"
            spellCheck={false}
            value={pasted}
            onChange={(event) => setPasted(event.currentTarget.value)}
          />
          <Button
            type="submit"
            variant="default"
            disabled={pasted.trim() === ''}
            loading={complete.isPending}
          >
            {t('addAccount.finish')}
          </Button>
        </form>
        {complete.error !== null && <ErrorNote error={complete.error} />}
      </li>
    </ol>
  );
}

/** The address comes from the settings; one that is no web address is not opened. */
function httpOnly(address: string): string {
  return /^https?:\/\//i.test(address) ? address : '#';
}
