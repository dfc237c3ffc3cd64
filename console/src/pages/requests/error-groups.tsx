// Equal errors as one: how many, of what, since when; each leads to its requests.

import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RequestErrors } from '../../../../src/admin/contract.ts';
import { errorGroupsQuery, type RequestQuery } from '../../api/queries/requests.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useFormat } from '../../components/use-format.ts';
import type { SearchTexts } from '../../components/use-search-texts.ts';
import { useFaults } from '../../i18n/use-sentences.ts';
import '../../components/stacking-table.css';

type Group = RequestErrors['groups'][number];

export interface ErrorGroupsProps {
  readonly query: RequestQuery;
  readonly search: SearchTexts;
}

export function ErrorGroups({ query, search }: ErrorGroupsProps) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(errorGroupsQuery(query));
  if (data === undefined)
    return <NotLoaded isMain error={error} onRetry={() => void refetch()} height={320} />;
  if (data.groups.length === 0) {
    return (
      <EmptyNote
        icon={<IconCircleCheck size={32} stroke={1.5} />}
        title={t('requests.noErrors')}
        hint={t('requests.noErrorsHint')}
      />
    );
  }
  return (
    <ScrollRegion className="error-groups" label={t('requests.views.errors')}>
      <table className="plain-table is-stacking">
        <thead>
          <tr>
            <th scope="col">{t('requests.errorMessage')}</th>
            <th scope="col" className="numeric">
              {t('requests.errorCount')}
            </th>
            <th scope="col">{t('requests.model')}</th>
            <th scope="col">{t('requests.account')}</th>
            <th scope="col">{t('requests.firstSeen')}</th>
            <th scope="col">{t('requests.lastSeen')}</th>
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group) => (
            <GroupRow key={group.group} group={group} search={search} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function GroupRow({ group, search }: { readonly group: Group; readonly search: SearchTexts }) {
  const { t } = useTranslation();
  const say = useFaults(group.latest.error !== undefined);
  const format = useFormat();
  const { latest, count, models, accounts, firstAt, lastAt } = group;
  const [code = ''] = group.group.split(': ');
  return (
    <tr>
      <td className="is-lead error-message">
        <Link
          to="/requests"
          search={{ ...search, view: undefined, error: group.group }}
          className="wrap-anywhere"
        >
          {latest.error === undefined ? group.group : say(latest.error)}
        </Link>
        <span className="sub-line">
          <StatusMark tone="bad">{latest.status}</StatusMark> <span className="mono">{code}</span>
        </span>
      </td>
      <td className="numeric is-corner">{format.number(count)}</td>
      <td>
        <span className="cell-label">{t('requests.model')}</span>
        <Names names={models} />
      </td>
      <td>
        <span className="cell-label">{t('requests.account')}</span>
        <Names names={accounts} />
      </td>
      <td className="error-time">
        <span className="cell-label">{t('requests.firstSeen')}</span>
        <RelativeTime at={firstAt} />
      </td>
      <td className="error-time">
        <span className="cell-label">{t('requests.lastSeen')}</span>
        <RelativeTime at={lastAt} />
      </td>
    </tr>
  );
}

function Names({ names }: { readonly names: Group['models'] }) {
  const format = useFormat();
  if (names.length === 0) return <span className="dimmed">–</span>;
  return (
    <ul className="error-names">
      {names.map(({ name, count }) => (
        <li key={name}>
          <span className="wrap-anywhere">{name}</span>{' '}
          <span className="dimmed">{format.number(count)}</span>
        </li>
      ))}
    </ul>
  );
}
