// Everything about one account: state and how to fix it, cooldowns, quota, a test, and its settings.

import { Button, Checkbox, Drawer } from '@mantine/core';
import { IconUserQuestion } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account, AccountTest } from '../../../../src/admin/contract.ts';
import { useTestAccount } from '../../api/queries/accounts.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { sayWayOut } from '../../components/say-account-state.ts';
import { StatusMark } from '../../components/status-mark.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { canEnable, EndsIn, needsSignIn, StateMark, StateReason } from './account-state.tsx';
import { Health } from './account-strip.tsx';
import { isUnchecked } from './condition.ts';
import { EditForm } from './edit-form.tsx';
import { QuotaBars } from './quota-bars.tsx';
import type { AccountWork } from './use-account-work.tsx';
import './account-drawer.css';

export interface AccountDrawerProps {
  /** Undefined: the drawer is closed. `nobody`: the account that the address names is not there. */
  readonly account: Account | 'nobody' | undefined;
  readonly work: AccountWork;
  readonly onSignIn: (account: Account) => void;
  readonly onClose: () => void;
}

export function AccountDrawer({ account, onClose, ...rest }: AccountDrawerProps) {
  const { t } = useTranslation();
  const { close, guard } = useCloseGuard(onClose, 'id');
  // What was shown stays while the drawer slides away.
  const last = useRef(account);
  if (account !== undefined) last.current = account;
  const shown = account ?? last.current;
  return (
    <Drawer
      opened={account !== undefined}
      onClose={close}
      position="right"
      size="lg"
      title={shown === 'nobody' ? t('accounts.one') : shown?.label}
    >
      {shown === 'nobody' ? (
        <EmptyNote
          icon={<IconUserQuestion size={32} stroke={1.5} />}
          title={t('accounts.notThere')}
          hint={t('accounts.notThereHint')}
        />
      ) : (
        shown !== undefined && guard(<Details key={shown.id} account={shown} {...rest} />)
      )}
    </Drawer>
  );
}

type DetailsProps = Omit<AccountDrawerProps, 'account' | 'onClose'> & { readonly account: Account };

function Details({ account, work, onSignIn }: DetailsProps) {
  const { t } = useTranslation();
  return (
    <div className="drawer-stack">
      <Restricted least="operator" isQuiet>
        <State account={account} work={work} onSignIn={onSignIn} />
        <Health account={account} />
        <Cooldowns account={account} work={work} />
      </Restricted>
      <section>
        <h3>{t('accounts.quota')}</h3>
        <QuotaBars account={account} />
      </section>
      <Restricted least="operator" isQuiet>
        <AccountTestBox account={account} />
      </Restricted>
      <section>
        <h3>{t('accounts.editTitle')}</h3>
        <Restricted least="operator">
          <EditForm account={account} />
        </Restricted>
      </section>
    </div>
  );
}

function State({ account, work, onSignIn }: DetailsProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const { status } = account;
  const isBusy = work.busyId === account.id;
  return (
    <section>
      <div className="state-line">
        <StateMark account={account} />
        <span className="dimmed">
          <StateReason account={account} />
        </span>
      </div>
      {status.detail !== null && <p className="state-detail wrap-anywhere">{say(status.detail)}</p>}
      {status.wayOut !== null && (
        <p className="card-way-out">
          {sayWayOut({ kind: account.kind, reason: status.reason }, status.wayOut, t)}
        </p>
      )}
      <div className="state-actions">
        {needsSignIn(account) && (
          <Button size="xs" onClick={() => onSignIn(account)}>
            {t('accounts.signInAgain')}
          </Button>
        )}
        {status.kind === 'active' && (
          <Button
            size="xs"
            variant="default"
            loading={isBusy}
            onClick={() => work.disable(account)}
          >
            {t('accounts.disable')}
          </Button>
        )}
        {canEnable(account) && (
          <Button size="xs" variant="default" loading={isBusy} onClick={() => work.enable(account)}>
            {t('accounts.enable')}
          </Button>
        )}
        <Button size="xs" variant="default" loading={isBusy} onClick={() => work.refresh(account)}>
          {t('accounts.refreshShort')}
        </Button>
      </div>
      <Facts account={account} />
    </section>
  );
}

function Facts({ account }: { readonly account: Account }) {
  const { t } = useTranslation();
  const { lastUsedAt } = account;
  return (
    <dl className="facts">
      <dt>{t('accounts.upstream')}</dt>
      <dd className="wrap-anywhere">{account.upstream}</dd>
      <dt>{t('accounts.kind')}</dt>
      <dd>
        {t(`accounts.kinds.${account.kind}`)} · {t(`accounts.origins.${account.origin}`)}
      </dd>
      <dt>{t('accounts.created')}</dt>
      <dd>
        <RelativeTime at={account.createdAt} />
      </dd>
      <dt>{t('accounts.lastUsed')}</dt>
      <dd>{lastUsedAt === null ? t('accounts.notUsed') : <RelativeTime at={lastUsedAt} />}</dd>
    </dl>
  );
}

function Cooldowns({ account, work }: Pick<DetailsProps, 'account' | 'work'>) {
  const { t } = useTranslation();
  const { cooldowns } = account;
  if (cooldowns.length === 0) return null;
  return (
    <section>
      <div className="section-line">
        <h3>{t('accounts.cooldowns')}</h3>
        <Button size="compact-sm" variant="subtle" onClick={() => work.clearCooldowns(account)}>
          {t('accounts.clearAll')}
        </Button>
      </div>
      <ul className="cooldowns">
        {cooldowns.map(({ model, cause, until }) => (
          <li key={`${model} ${cause}`}>
            <div>
              <span className="wrap-anywhere">{model ?? t('accounts.wholeAccount')}</span>
              <div className="dimmed small">
                {t(`accounts.causes.${cause}`)} · <EndsIn until={until} />
              </div>
            </div>
            {model !== null && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={t('accounts.clearCooldown', { what: model })}
                onClick={() => work.clearCooldowns(account, model)}
              >
                {t('accounts.end')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Tries an account step by step and shows what worked. */
function AccountTestBox({ account }: { readonly account: Account }) {
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
            <TestOutcome test={test.data} account={account} />
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

interface TestOutcomeProps {
  readonly test: AccountTest;
  readonly account: Account;
}

/** Without an answer nothing is known but that the credential is taken, and without models not even that. */
function TestOutcome({ test: { isUsable, steps }, account }: TestOutcomeProps) {
  const { t } = useTranslation();
  if (!isUsable) return <StatusMark tone="bad">{t('accounts.testBad')}</StatusMark>;
  if (isUnchecked(account)) {
    return <StatusMark tone="idle">{t('accounts.testUnchecked')}</StatusMark>;
  }
  const hasAnswered = steps.some(({ name, isGood }) => name === 'answer' && isGood);
  const said = hasAnswered ? 'accounts.testGood' : 'accounts.testAccepted';
  return <StatusMark tone="ok">{t(said)}</StatusMark>;
}
