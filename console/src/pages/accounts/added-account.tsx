// What was found out of an account as it was added: its credential, its models, an answer and its quota.

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { accountsQuery, useTestAccount } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { isUnchecked } from './condition.ts';
import { QuotaBars } from './quota-bars.tsx';
import './account-drawer.css';

interface AddedAccountProps {
  readonly account: Account;
  readonly onMore: () => void;
  readonly onDone: () => void;
}

const SHOWN_MODELS = 4;

/** How far it got; the later a step, the more is known. */
type Found = 'nothing' | 'unchecked' | 'models' | 'no-answer' | 'answer';

const SAYINGS = {
  nothing: { tone: 'warn', text: 'addAccount.unverified' },
  unchecked: { tone: 'warn', text: 'addAccount.addedUnchecked' },
  models: { tone: 'idle', text: 'addAccount.addedAccepted' },
  'no-answer': { tone: 'warn', text: 'addAccount.unverified' },
  answer: { tone: 'ok', text: 'addAccount.verified' },
} as const;

function findOut(account: Account): Found {
  const { trial } = account.condition;
  if (isUnchecked(account)) return 'unchecked';
  if (trial?.what === 'answer') return trial.isGood ? 'answer' : 'no-answer';
  return trial?.isGood === true ? 'models' : 'nothing';
}

export function AddedAccount({ account: added, onMore, onDone }: AddedAccountProps) {
  const { t } = useTranslation();
  const test = useTestAccount();
  const { data } = useQuery(accountsQuery);
  const account = data?.accounts.find(({ id }) => id === added.id) ?? added;
  const found = findOut(account);
  const { tone, text } = SAYINGS[found];
  return (
    <div className="form-stack" aria-live="polite">
      <StatusMark tone={tone}>{t(text, { name: account.label })}</StatusMark>
      <Steps account={account} found={found} />
      {found !== 'nothing' && found !== 'unchecked' && (
        <QuotaBars account={account} limit={SHOWN_MODELS} />
      )}
      {test.error !== null && <ErrorNote error={test.error} />}
      <div className="dialog-actions">
        {(found === 'models' || found === 'no-answer') && (
          <Button
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate({ id: account.id, generate: true })}
          >
            {t('addAccount.generate')}
          </Button>
        )}
        <Button variant="default" onClick={onMore}>
          {t('addAccount.addMore')}
        </Button>
        <Button onClick={onDone} data-autofocus>
          {t('common.close')}
        </Button>
      </div>
    </div>
  );
}

function Steps({ account, found }: { readonly account: Account; readonly found: Found }) {
  const { t } = useTranslation();
  const format = useFormat();
  const say = useSentences();
  const { models, condition } = account;
  const { trial } = condition;
  const said = trial === null ? '–' : say(trial.message);
  if (found === 'nothing' || found === 'unchecked') {
    const isGood = trial === null || found === 'unchecked' ? undefined : false;
    return (
      <ol className="test-steps">
        <Step isGood={isGood} name={t('accounts.testSteps.credential')}>
          {said}
        </Step>
      </ol>
    );
  }
  const answers = {
    models: { isGood: undefined, text: t('addAccount.notAsked') },
    'no-answer': { isGood: false, text: said },
    answer: {
      isGood: true,
      text: t('addAccount.answeredIn', { time: format.duration(trial?.durationMs ?? 0) }),
    },
  };
  const answer = answers[found];
  return (
    <ol className="test-steps">
      <Step isGood name={t('accounts.testSteps.credential')}>
        {t('addAccount.accepted')}
      </Step>
      <Step isGood name={t('accounts.testSteps.models')}>
        {t('addAccount.models', { count: models ?? 0, formatted: format.number(models ?? 0) })}
      </Step>
      <Step isGood={answer.isGood} name={t('accounts.testSteps.answer')}>
        {answer.text}
      </Step>
    </ol>
  );
}

interface StepProps {
  /** Undefined: it was not tried. */
  readonly isGood: boolean | undefined;
  readonly name: string;
  readonly children: string;
}

function Step({ isGood, name, children }: StepProps) {
  return (
    <li>
      <StatusMark tone={isGood === undefined ? 'idle' : isGood ? 'ok' : 'bad'}>{name}</StatusMark>
      <span className="wrap-anywhere">{children}</span>
    </li>
  );
}
