// The first line of the overview: one word on how it goes, and where clients reach the gateway.

import { IconAlertTriangle, IconCircleCheck, IconExclamationCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { isUnreachable } from '../../api/client.ts';
import { sessionQuery } from '../../api/queries/session.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { useNow } from '../../components/now.tsx';
import { readTime, useFormat } from '../../components/use-format.ts';
import { sayHeadline, sayHint } from './say-status.ts';

const ICONS = {
  ok: IconCircleCheck,
  attention: IconAlertTriangle,
  trouble: IconExclamationCircle,
} as const;

export function StatusHead({ overview }: { readonly overview: Overview }) {
  const { t } = useTranslation();
  const { isSandbox } = overview;
  const { error } = useQuery(sessionQuery);
  const isAway = isUnreachable(error);
  const status = isAway ? 'trouble' : overview.status;
  const StatusIcon = ICONS[status];
  return (
    <header className={`status-head is-${status}`}>
      <StatusIcon className="status-icon" size={34} stroke={1.8} aria-hidden="true" />
      <div className="status-words">
        <h1>
          {isAway ? t('overview.away') : sayHeadline(overview, t)}
          {isSandbox && <span className="sandbox-mark">{t('overview.sandbox')}</span>}
        </h1>
        <p>{isAway ? t('overview.awayHint') : sayHint(overview, t)}</p>
      </div>
      <Facts overview={overview} />
    </header>
  );
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
        <dd title={format.absolute(overview.startedAt)}>{format.duration(withoutRest(upMs))}</dd>
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

/** Nothing that flickers: seconds in the first minute, minutes from then on. */
function withoutRest(ms: number): number {
  const step = ms < 60_000 ? 1_000 : 60_000;
  return Math.max(step, Math.floor(ms / step) * step);
}
