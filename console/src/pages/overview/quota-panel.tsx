// What is left of each model family, and when it is full again.

import { IconGauge } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Overview } from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { Meter } from '../../components/meter.tsx';
import { Panel } from '../../components/panel.tsx';
import { ResetCountdown } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import { sayFamily } from './say-family.ts';

export function QuotaPanel({ quota }: { readonly quota: Overview['quota'] }) {
  const { t } = useTranslation();
  return (
    <Panel title={t('overview.quota')} hint={t('overview.quotaHint')}>
      {quota.length === 0 ? (
        <EmptyNote
          icon={<IconGauge size={28} />}
          title={t('overview.quotaEmpty')}
          hint={t('overview.quotaEmptyHint')}
        />
      ) : (
        <ul className="families">
          {quota.map((family) => (
            <Family key={`${family.family} ${family.kind}`} family={family} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Family({ family }: { readonly family: Overview['quota'][number] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { models, percent, resetsAt } = family;
  const name = sayFamily(family, t);
  const left = t('common.percent', { value: format.percent(percent) });
  return (
    <li>
      <div className="family-line">
        <span className="family-name wrap-anywhere" title={models.join('\n')}>
          <Link to="/requests" search={{ model: models.join(',') }}>
            {name}
          </Link>
          <span className="dimmed small"> {t('overview.models', { count: models.length })}</span>
        </span>
        <span className="family-left">{left}</span>
      </div>
      <Meter percent={percent} label={`${name}: ${left}`} />
      <div className="family-reset">
        {resetsAt !== undefined && <ResetCountdown at={resetsAt} />}
      </div>
    </li>
  );
}
