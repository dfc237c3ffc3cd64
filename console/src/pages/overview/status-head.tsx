// The first line of the overview: one word on how it goes, and where clients reach the gateway.

import { IconAlertTriangle, IconCircleCheck, IconExclamationCircle } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { useNow } from '../../components/now.tsx';
import { readTime, useFormat } from '../../components/use-format.ts';

const ICONS = {
  ok: IconCircleCheck,
  attention: IconAlertTriangle,
  trouble: IconExclamationCircle,
} as const;

const FAILING: ReadonlySet<string> = new Set(['no-accounts', 'no-usable-account', 'many-errors']);

export function StatusHead({ overview }: { readonly overview: Overview }) {
  const { t } = useTranslation();
  const { status, isSandbox } = overview;
  const StatusIcon = ICONS[status];
  return (
    <header className={`status-head is-${status}`}>
      <StatusIcon className="status-icon" size={34} stroke={1.8} aria-hidden="true" />
      <div className="status-words">
        <h1>
          {sayHeadline(overview, t)}
          {isSandbox && <span className="sandbox-mark">{t('overview.sandbox')}</span>}
        </h1>
        <p>{sayHint(overview, t)}</p>
      </div>
      <Facts overview={overview} />
    </header>
  );
}

function sayHeadline({ status, attention }: Overview, t: TFunction): string {
  if (status === 'attention') return t('overview.attention', { count: attention.length });
  const isOpen = attention.some(({ kind }) => kind === 'open-to-all');
  const isFailing = attention.some(
    ({ kind, severity }) => FAILING.has(kind) && severity === 'error',
  );
  // An open door is trouble too, but none that a client would notice.
  return t(isOpen && !isFailing ? 'overview.exposed' : `overview.${status}`);
}

/** Failures that are few leave the headline as it is, but not the word that requests succeed. */
function sayHint({ status, isSandbox, live }: Overview, t: TFunction): string {
  const { errorsPerMinute: count, requestsPerMinute } = live;
  if (status !== 'trouble' && count > 0) {
    return t('overview.errorsHint', { count, total: Math.max(count, requestsPerMinute) });
  }
  return t(isSandbox && status === 'ok' ? 'overview.sandboxHint' : `overview.${status}Hint`);
}

function Facts({ overview }: { readonly overview: Overview }) {
  const { t } = useTranslation();
  const format = useFormat();
  const upMs = Math.max(0, useNow() - readTime(overview.startedAt));
  return (
    <dl className="status-facts">
      <div className="is-wide">
        <dt>{t('overview.address')}</dt>
        <dd>
          <span className="mono one-line">{overview.address}</span>
          <CopyIcon text={overview.address} label={t('common.copy')} />
        </dd>
      </div>
      <div>
        <dt>{t('overview.authMode')}</dt>
        <dd>{sayAuthMode(overview.authMode, t)}</dd>
      </div>
      <div>
        <dt>{t('overview.upSince')}</dt>
        <dd title={format.absolute(overview.startedAt)}>{format.duration(wholeMinutes(upMs))}</dd>
      </div>
      <div>
        <dt>{t('overview.version')}</dt>
        <dd className="mono">{overview.version}</dd>
      </div>
    </dl>
  );
}

function sayAuthMode(mode: string, t: TFunction): string {
  if (mode === 'off' || mode === 'auto' || mode === 'strict')
    return t(`overview.authModes.${mode}`);
  return mode;
}

function wholeMinutes(ms: number): number {
  return ms < 60_000 ? ms : Math.floor(ms / 60_000) * 60_000;
}
