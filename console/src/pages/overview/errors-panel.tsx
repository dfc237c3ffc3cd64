// The requests that failed last, with the reason of each.

import { IconCircleCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/times.tsx';
import type { SayIn } from '../../i18n/sentences.ts';
import { useFaults } from '../../i18n/use-sentences.ts';

export function ErrorsPanel({ errors }: { readonly errors: readonly RequestRow[] }) {
  const { t } = useTranslation();
  const say = useFaults(errors.length > 0);
  if (errors.length === 0) {
    return (
      <Panel title={t('overview.recentErrors')}>
        <EmptyNote
          icon={<IconCircleCheck size={28} />}
          title={t('overview.noErrors')}
          hint={t('overview.noErrorsHint')}
        />
      </Panel>
    );
  }
  return (
    <Panel
      isFlush
      title={t('overview.recentErrors')}
      actions={
        <Link to="/requests" search={{ status: 'error' }}>
          {t('overview.allFailed')}
        </Link>
      }
    >
      <table className="plain-table errors">
        <thead>
          <tr>
            <th scope="col">{t('overview.when')}</th>
            <th scope="col">{t('overview.status')}</th>
            <th scope="col">{t('overview.model')}</th>
            <th scope="col">{t('overview.reason')}</th>
            <th scope="col">{t('overview.account')}</th>
          </tr>
        </thead>
        <tbody>
          {errors.map((row) => (
            <ErrorRow key={row.id} row={row} say={say} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function ErrorRow({ row, say }: { readonly row: RequestRow; readonly say: SayIn }) {
  const { t } = useTranslation();
  // A stream that broke off has a good status all the same.
  const isBroken = row.status < 400;
  const usageModel = row.upstreamModel ?? row.routedModel;
  const name = row.model === '' ? <span className="dimmed">{row.path}</span> : row.model;
  return (
    <tr>
      <td className="errors-when">
        <Link to="/requests" search={{ id: row.id }}>
          <RelativeTime at={row.at} />
        </Link>
      </td>
      <td className="errors-status">
        {row.status}
        {isBroken && ` ${t('common.brokeOff')}`}
      </td>
      <td className="errors-model">
        <div className="one-line" title={row.model === '' ? row.path : row.model}>
          {usageModel === undefined ? (
            name
          ) : (
            <Link to="/usage" search={{ model: usageModel, by: 'account', period: 'day' }}>
              {name}
            </Link>
          )}
        </div>
      </td>
      <td className="errors-reason wrap-anywhere">
        {row.error !== undefined && <div title={row.error.text}>{say(row.error)}</div>}
      </td>
      <td className="errors-account">
        <div className="one-line" title={row.account}>
          {row.account ?? <span className="is-nobody">–</span>}
        </div>
      </td>
    </tr>
  );
}
