// The record of requests: filters, a list that follows what happens, and one request in full.

import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core';
import { IconDots, IconListSearch, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { withQuery } from '../../api/client.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { type RequestQuery, useForgetRequests } from '../../api/queries/requests.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { RemoveItem } from '../../components/remove-item.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { FilterBar } from './filter-bar.tsx';
import { countFilters, readFilters, writeQuery } from './filters.ts';
import { RequestDrawer } from './request-drawer.tsx';
import { RequestList } from './request-list.tsx';
import { useRangeStep } from './use-range-step.ts';
import { useRequestRows } from './use-request-rows.ts';
import './page.css';

export function RequestsPage() {
  const { t } = useTranslation();
  const { texts, adjust, close } = useSearchTexts();
  const [isFollowing, setFollowing] = useState(true);
  const [isAtTop, setAtTop] = useState(true);
  const filters = readFilters(texts);
  const filterKey = JSON.stringify(filters);
  const step = useRangeStep(filters.range, isFollowing && isAtTop);
  // In between the time stands still: it is part of what the list is known by.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step begins the range anew
  const query = useMemo(
    () => writeQuery(readFilters(JSON.parse(filterKey)), Date.now()),
    [filterKey, step],
  );
  const { data: overview } = useQuery(overviewQuery);
  const list = useRequestRows(query, { isFollowing: isFollowing && isAtTop });
  const replicas = useMemo(
    () => namesOf(overview?.replicas, list.rows),
    [overview?.replicas, list.rows],
  );
  return (
    <div className="requests-page">
      <PageHeader
        title={t('shell.pages.requests')}
        subtitle={t('requests.subtitle')}
        actions={
          <>
            <FollowButton isFollowing={isFollowing} onChange={setFollowing} />
            <MoreMenu query={query} />
          </>
        }
      />
      <FilterBar {...{ filters, replicas }} onChange={adjust} />
      <Panel isFlush className="requests-panel">
        {list.rows === undefined && list.error === null && <Skeleton height={320} />}
        {list.rows === undefined && list.error !== null && (
          <ErrorNote error={list.error} title={t('common.failedToLoad')} onRetry={list.retry} />
        )}
        {list.rows?.length === 0 && <NoRequests isFiltered={countFilters(filters) > 0} />}
        {list.rows !== undefined && list.rows.length > 0 && (
          <RequestList
            {...{ list, rows: list.rows, search: texts, onTop: setAtTop }}
            isShared={replicas.length > 1}
            onFollow={() => setFollowing(true)}
          />
        )}
      </Panel>
      <RequestDrawer id={texts.id} onClose={() => close({ id: undefined, tab: undefined })} />
    </div>
  );
}

/** Of those that serve now, and of those that served what is listed. */
function namesOf(
  replicas: readonly string[] = [],
  rows: readonly RequestRow[] = [],
): readonly string[] {
  const served = rows.flatMap(({ replica }) => (replica === undefined ? [] : [replica]));
  return [...new Set([...replicas, ...served])].sort();
}

interface FollowButtonProps {
  readonly isFollowing: boolean;
  readonly onChange: (isFollowing: boolean) => void;
}

function FollowButton({ isFollowing, onChange }: FollowButtonProps) {
  const { t } = useTranslation();
  return (
    <Button
      variant="default"
      title={t(isFollowing ? 'requests.following' : 'requests.paused')}
      leftSection={isFollowing ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
      onClick={() => onChange(!isFollowing)}
    >
      {t(isFollowing ? 'requests.pause' : 'requests.follow')}
    </Button>
  );
}

function MoreMenu({ query }: { readonly query: RequestQuery }) {
  const { t } = useTranslation();
  const confirm = useConfirm();
  const toasts = useToasts();
  const forget = useForgetRequests();
  const ask = (): void =>
    confirm({
      title: t('requests.forgetTitle'),
      body: <p className="dialog-text">{t('requests.forgetHint')}</p>,
      confirm: t('requests.forget'),
      onConfirm: () =>
        void forget
          .mutateAsync(undefined)
          .then(() => toasts.done(t('requests.forgotten')), toasts.failed),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label={t('requests.menu')}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['csv', 'json'] as const).map((format) => (
          <Menu.Item
            key={format}
            component="a"
            href={withQuery('/api/export/requests', { ...query, format })}
            download
          >
            {t('requests.export', { format: format.toUpperCase() })}
          </Menu.Item>
        ))}
        <RemoveItem onClick={ask}>{t('requests.forget')}</RemoveItem>
      </Menu.Dropdown>
    </Menu>
  );
}

function NoRequests({ isFiltered }: { readonly isFiltered: boolean }) {
  const { t } = useTranslation();
  const icon = <IconListSearch size={32} stroke={1.5} />;
  if (isFiltered) {
    return <EmptyNote icon={icon} title={t('requests.noMatch')} hint={t('requests.noMatchHint')} />;
  }
  return (
    <EmptyNote
      icon={icon}
      title={t('requests.empty')}
      hint={t('requests.emptyHint')}
      action={
        <LinkButton to="/playground" variant="default">
          {t('requests.toPlayground')}
        </LinkButton>
      }
    />
  );
}
