// The state of an account in words: why it is so, until when, and the way out.

import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { sayReason } from '../../components/say-account-state.ts';
import { StatusMark } from '../../components/status-mark.tsx';
import { TimeLeft } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { isUnchecked } from './condition.ts';

export function StateMark({ account }: { readonly account: Account }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { status, condition } = account;
  if (status.kind === 'disabled') {
    if (status.reason === 'standing-by') {
      return <StatusMark tone="idle">{t('accounts.standingBy')}</StatusMark>;
    }
    // Somebody meant it; everything else wants a person.
    const tone = status.reason === 'manual' ? 'idle' : 'bad';
    return <StatusMark tone={tone}>{t('accounts.disabled')}</StatusMark>;
  }
  if (status.kind === 'blocked') return <StatusMark tone="bad">{t('accounts.blocked')}</StatusMark>;
  const { state } = condition;
  return (
    // In use with a reason: it is in doubt.
    <StatusMark tone={status.reason !== null && state !== 'failing' ? 'warn' : TONES[state]}>
      {t(`accounts.states.${state}`, { share: format.percent((condition.share ?? 1) * 100) })}
    </StatusMark>
  );
}

const TONES = {
  untried: 'idle',
  healthy: 'ok',
  degraded: 'warn',
  'cooling-down': 'warn',
  failing: 'bad',
  disabled: 'bad',
} as const;

/** Whether a new sign-in is what would help. */
export function needsSignIn({ kind, origin, status }: Account): boolean {
  const isRefused = status.reason === 'invalid-grant' || status.reason === 'refused-grant';
  return isRefused && kind === 'oauth' && origin === 'stored';
}

/** An account without its upstream would be no more use enabled. */
export function canEnable({ status }: Account): boolean {
  return status.kind !== 'active' && status.reason !== 'no-upstream';
}

/** One line on what keeps the account, or some of its models, from serving. */
export function StateReason({ account }: { readonly account: Account }) {
  const { t } = useTranslation();
  const say = useSentences();
  const { status, cooldowns } = account;
  if (status.kind !== 'active') {
    return (
      <span className="wrap-anywhere">
        {sayReason({ kind: account.kind, reason: status.reason }, t)}
        {status.until !== null && (
          <>
            {' · '}
            <EndsIn until={status.until} />
          </>
        )}
      </span>
    );
  }
  const { state, reason, trial } = account.condition;
  if (reason !== null && (state === 'failing' || state === 'degraded')) {
    return <span className="wrap-anywhere">{say(reason)}</span>;
  }
  const whole = cooldowns.find(({ model }) => model === null);
  const [first] = cooldowns;
  if (whole !== undefined) {
    return (
      <span>
        {t(`accounts.causes.${whole.cause}`)} · <EndsIn until={whole.until} />
      </span>
    );
  }
  if (status.reason !== null) {
    return <span>{sayReason({ kind: account.kind, reason: status.reason }, t)}</span>;
  }
  if (first === undefined) {
    if (state !== 'untried' || trial === null) return null;
    const said = isUnchecked(account) ? 'accounts.testUnchecked' : 'accounts.credentialAccepted';
    return <span>{t(said)}</span>;
  }
  return <span>{t('accounts.restingModels', { count: cooldowns.length })}</span>;
}

export function EndsIn({ until }: { readonly until: string }) {
  const { t } = useTranslation();
  const [before = '', after = ''] = t('accounts.endsIn', { time: '\u0000' }).split('\u0000');
  return (
    <>
      {before}
      <TimeLeft until={until} />
      {after}
    </>
  );
}
