// Every try of a request: which account, why that one, and what became of it.

import { IconRouteOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type {
  ConsideredAccount,
  RequestAttempt,
  RequestDetail,
} from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useFormat } from '../../components/use-format.ts';
import { type AttemptsOfCall, groupAttempts } from './group-attempts.ts';
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

function CallAttempts({ group: { call, attempts }, calls = 1 }: CallAttemptsProps) {
  const { t } = useTranslation();
  return (
    <section>
      {call !== undefined && (
        <h3 className="attempts-call">{t('requests.upstreamCall', { number: call, calls })}</h3>
      )}
      <ol className="attempts">
        {attempts.map((attempt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tries have no name but their number
          <Attempt key={index} attempt={attempt} number={index + 1} />
        ))}
      </ol>
    </section>
  );
}

interface AttemptProps {
  readonly attempt: RequestAttempt;
  readonly number: number;
}

function Attempt({ attempt, number }: AttemptProps) {
  const { t } = useTranslation();
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
      {detail !== undefined && <p className="attempt-words wrap-anywhere">{detail}</p>}
      {considered.length > 0 && (
        <>
          <h4>{t('requests.considered')}</h4>
          <Considered entries={considered} />
        </>
      )}
    </li>
  );
}

function Considered({ entries }: { readonly entries: readonly ConsideredAccount[] }) {
  const { t } = useTranslation();
  const names = useAccountNames();
  return (
    <ul className="considered">
      {entries.map((entry) => {
        const { accountId, count = 1, accountIds = [] } = entry;
        const name =
          accountId === undefined ? t('requests.accountsMore', { count }) : names.nameOf(accountId);
        const title = accountIds.map(names.nameOf).join(', ');
        return (
          <li key={`${name} ${entry.verdict}`}>
            <span className="wrap-anywhere" title={title}>
              {name}
            </span>
            <span className="dimmed">{sayVerdict(entry.verdict, t)}</span>
          </li>
        );
      })}
    </ul>
  );
}
