// How exposed the gateway is, point by point.

import { Skeleton } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { addressRulesQuery } from '../../api/queries/address-rules.ts';
import { budgetsQuery } from '../../api/queries/budgets.ts';
import { sectionQuery } from '../../api/queries/config.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { valueAt } from '../../settings/section-values.ts';
import { type Finding, findExposure } from './find-exposure.ts';

export function ExposurePanel() {
  const { t } = useTranslation();
  const overview = useQuery(overviewQuery);
  const network = useQuery(sectionQuery('network'));
  const filter = useQuery(sectionQuery('ip_filter'));
  const rules = useQuery(addressRulesQuery);
  const keys = useQuery(keysQuery);
  const budgets = useQuery(budgetsQuery);
  const error = overview.error ?? network.error;
  const isWaiting = [filter, rules, keys, budgets].some(({ isPending }) => isPending);
  const isLoaded = overview.data !== undefined && network.data !== undefined && !isWaiting;
  const address = overview.data?.address ?? '';
  return (
    <Panel title={t('security.exposureTitle')} hint={t('security.exposureHint')}>
      {!isLoaded && error === null && <Skeleton height={308} />}
      {!isLoaded && error !== null && (
        <ErrorNote
          error={error}
          onRetry={() => {
            for (const { refetch } of [overview, network]) void refetch();
          }}
        />
      )}
      {isLoaded && (
        <ul className="findings">
          {findExposure({
            address,
            authMode: overview.data.authMode,
            consolePassword: overview.data.consolePassword,
            network: network.data.values,
            filter: filter.data?.values,
            rules: rules.data?.rules.length ?? 0,
            keys: keys.data?.keys ?? [],
            budgets: budgets.data?.budgets ?? [],
          }).map((finding) => (
            <FindingLine
              key={finding.title}
              finding={finding}
              address={address}
              isOpen={valueAt(filter.data?.values, ['default']) !== 'deny'}
            />
          ))}
        </ul>
      )}
    </Panel>
  );
}

interface FindingLineProps {
  readonly finding: Finding;
  readonly address: string;
  /** Whether addresses without a rule are let in. */
  readonly isOpen: boolean;
}

function FindingLine({ finding, address, isOpen }: FindingLineProps) {
  const { t } = useTranslation();
  const { tone, title, hint, count } = finding;
  const verdict = t(isOpen ? 'security.findings.letIn' : 'security.findings.refused');
  return (
    <li className={`finding is-${tone}`}>
      <FindingIcon tone={tone} />
      <div>
        <strong>{t(`security.findings.${title}`, { count })}</strong>
        <span className="sub-line wrap-anywhere">
          {t(`security.findings.${hint}`, { count, address, verdict })}
        </span>
      </div>
    </li>
  );
}

function FindingIcon({ tone }: { readonly tone: Finding['tone'] }) {
  if (tone === 'ok') return <IconCircleCheck size={20} aria-hidden="true" />;
  if (tone === 'idle') return <IconInfoCircle size={20} aria-hidden="true" />;
  return <IconAlertTriangle size={20} aria-hidden="true" />;
}
