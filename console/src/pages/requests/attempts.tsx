// Every try of a request: which account, why that one, and what became of it.

import { IconCornerDownRight, IconRouteOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type {
  ConsideredAccount,
  RequestAttempt,
  RequestDetail,
  RequestFallback,
} from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { type AttemptsOfCall, groupAttempts } from './group-attempts.ts';
import { type ConsideredGroup, groupConsidered } from './group-considered.ts';
import { sayEnd, sayVerdict } from './say-attempt.ts';
import { useAccountNames } from './use-account-names.ts';

export function Attempts({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const { attemptsList, passedOver, upstreamCalls } = detail;
  return (
    <div className="form-stack">
      {attemptsList.length === 0 && (
        <EmptyNote
          icon={<IconRouteOff size={32} stroke={1.5} />}
          title={t('requests.noAttempt')}
          hint={t('requests.noAttemptHint')}
        />
      )}
      {groupAttempts(detail).map((group) => (
        <CallAttempts key={group.call ?? 'only'} group={group} calls={upstreamCalls} />
      ))}
      {passedOver !== undefined && passedOver.length > 0 && (
        <section className="attempt">
          <h3>{t('requests.passedOver')}</h3>
          <Considered entries={passedOver} />
        </section>
      )}
    </div>
  );
}

interface CallAttemptsProps {
  readonly group: AttemptsOfCall;
  readonly calls: number | undefined;
}

function CallAttempts({ group: { call, steps }, calls = 1 }: CallAttemptsProps) {
  const { t } = useTranslation();
  const Title = call === undefined ? 'h3' : 'h4';
  return (
    <section>
      {call !== undefined && (
        <h3 className="attempts-call">{t('requests.upstreamCall', { number: call, calls })}</h3>
      )}
      <ol className="attempts">
        {steps.map((step) =>
          step.kind === 'attempt' ? (
            <Attempt key={step.number} {...step} Title={Title} />
          ) : (
            <Fallback key={`${step.fallback.from} ${step.fallback.to}`} {...step} />
          ),
        )}
      </ol>
    </section>
  );
}

interface AttemptProps {
  readonly attempt: RequestAttempt;
  readonly number: number;
  /** One below the heading it stands under. */
  readonly Title: 'h3' | 'h4';
}

function Attempt({ attempt, number, Title }: AttemptProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const format = useFormat();
  const { outcome, status, account, model, ms, considered, detail } = attempt;
  const isGood = outcome === 'ok' || outcome === 'success' || outcome === 'answered';
  return (
    <li className="attempt">
      <div className="attempt-head">
        <span className="attempt-number">{t('requests.attempt', { number })}</span>
        <StatusMark tone={isGood ? 'ok' : 'bad'}>
          {[status, sayEnd(outcome, t)].filter((word) => word !== undefined).join(' ')}
        </StatusMark>
        {ms !== undefined && <span className="dimmed">{format.duration(ms)}</span>}
      </div>
      <p className="attempt-way wrap-anywhere">
        <strong>{account ?? '–'}</strong>
        {model !== undefined && <span className="dimmed mono"> {model}</span>}
      </p>
      {detail !== undefined && <p className="attempt-words wrap-anywhere">{say(detail)}</p>}
      {considered.length > 0 && (
        <>
          <Title>{t('requests.considered')}</Title>
          <Considered entries={considered} />
        </>
      )}
    </li>
  );
}

function Fallback({ fallback }: { readonly fallback: RequestFallback }) {
  const { t } = useTranslation();
  const { from, to, reason } = fallback;
  const why = t(`attempts.fallbacks.${reason}`);
  return (
    <li className="attempt-fallback wrap-anywhere">
      <IconCornerDownRight size={16} aria-hidden="true" />
      <span>{t('requests.leftTarget', { from, to, why })}</span>
    </li>
  );
}

function Considered({ entries }: { readonly entries: readonly ConsideredAccount[] }) {
  const { t } = useTranslation();
  return (
    <ul className="considered">
      {groupConsidered(entries).map((group) => (
        <li key={`${group.accountIds[0]} ${group.verdict}`}>
          <Accounts group={group} />
          <span className="dimmed">{sayVerdict(group.verdict, t)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The one account, or how many there are, which opens to their names. */
function Accounts({ group: { count, accountIds } }: { readonly group: ConsideredGroup }) {
  const { t } = useTranslation();
  const names = useAccountNames();
  const [first] = accountIds;
  if (count === 1 && first !== undefined) {
    return <span className="wrap-anywhere">{names.nameOf(first)}</span>;
  }
  const others = count - accountIds.length;
  return (
    <details className="wrap-anywhere">
      <summary>{t('requests.accountsMore', { count })}</summary>
      <ul className="considered-names dimmed">
        {accountIds.map((id) => (
          <li key={id}>{names.nameOf(id)}</li>
        ))}
        {others > 0 && <li>{t('requests.accountsOthers', { count: others })}</li>}
      </ul>
    </details>
  );
}
