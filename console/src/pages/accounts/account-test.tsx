// Tries an account step by step and shows what worked.

import { Button, Checkbox } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account, AccountTest } from '../../../../src/admin/contract.ts';
import { useTestAccount } from '../../api/queries/accounts.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSentences } from '../../i18n/use-sentences.ts';

export function AccountTestBox({ account }: { readonly account: Account }) {
  const { t } = useTranslation();
  const format = useFormat();
  const say = useSentences();
  const test = useTestAccount();
  const [generate, setGenerate] = useState(false);
  return (
    <section>
      <div className="section-line">
        <h3>{t('accounts.test')}</h3>
        <Button
          size="xs"
          variant="default"
          loading={test.isPending}
          onClick={() => test.mutate({ id: account.id, generate })}
        >
          {t('accounts.test')}
        </Button>
      </div>
      <Checkbox
        label={t('accounts.testGenerate')}
        checked={generate}
        onChange={(event) => setGenerate(event.currentTarget.checked)}
      />
      <div aria-live="polite">
        {test.error !== null && <ErrorNote error={test.error} />}
        {test.data !== undefined && (
          <>
            <StatusMark tone={test.data.isUsable ? 'ok' : 'bad'}>
              {t(sayOutcome(test.data))}
            </StatusMark>
            <ol className="test-steps">
              {test.data.steps.map(({ name, isGood, message, durationMs }) => (
                <li key={name}>
                  <StatusMark tone={isGood ? 'ok' : 'bad'}>
                    {t(`accounts.testSteps.${name}`)}
                  </StatusMark>
                  <span className="wrap-anywhere">{say(message)}</span>
                  <span className="dimmed small">{format.duration(durationMs)}</span>
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </section>
  );
}

/** Without an answer nothing is known but that the credential is taken. */
function sayOutcome({ isUsable, steps }: AccountTest) {
  if (!isUsable) return 'accounts.testBad';
  const hasAnswered = steps.some(({ name, isGood }) => name === 'answer' && isGood);
  return hasAnswered ? 'accounts.testGood' : 'accounts.testAccepted';
}
