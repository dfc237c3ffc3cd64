// The record of requests: filters, counts over time, a list that follows what happens, and one request in full.

import { ActionIcon, Button, Menu, SegmentedControl } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import {
  IconColumns,
  IconDots,
  IconListSearch,
  IconPlayerPause,
  IconPlayerPlay,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { withQuery } from '../../api/client.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { type RequestQuery, useForgetRequests } from '../../api/queries/requests.ts';
import { useMay } from '../../api/queries/session.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { RemoveItem } from '../../components/remove-item.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useStored } from '../../components/use-stored.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { CHOICES, type Choice, readChoice, usualChoice } from './columns.ts';
import { ErrorGroups } from './error-groups.tsx';
import { FilterBar } from './filter-bar.tsx';
import { countFilters, readFilters, writeQuery } from './filters.ts';
import { Histogram } from './histogram.tsx';
import { RequestList } from './request-list.tsx';
import { RequestDrawer, RequestPanel } from './request-place.tsx';
import { SavedViewsMenu } from './saved-views-menu.tsx';
import { useNeighbours } from './use-neighbours.ts';
import { useRangeStep } from './use-range-step.ts';
import { type RequestRows, useRequestRows } from './use-request-rows.ts';
import { useRunning } from './use-running.ts';
import './page.css';

/** From here on there is room beside the list. */
const WIDE = '(min-width: 75em)';
const COLUMNS_STORED_AS = 'isthmus-request-columns';

export function RequestsPage() {
  const { t } = useTranslation();
  const { texts, adjust, open, close } = useSearchTexts();
  const [isFollowing, setFollowing] = useState(true);
  const [isAtTop, setAtTop] = useState(true);
  const [isPanelWide, setPanelWide] = useState(false);
  const [chosen, setChosen] = useStored(COLUMNS_STORED_AS, readChoice);
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const hasRoom = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
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
  const running = useRunning(filters, !isFollowing || !isAtTop);
  const { id } = texts;
  const neighbours = useNeighbours(id, list.rows);
  const onClose = (): void => close({ id: undefined, tab: undefined });
  const isShared = replicas.length > 1;
  const isOfErrors = texts.view === 'errors';
  const isBeside = hasRoom && id !== undefined;
  return (
    <div className="requests-page">
      <PageHeader
        title={t('shell.pages.requests')}
        subtitle={t('requests.subtitle')}
        actions={
          <>
            <SegmentedControl
              aria-label={t('requests.view')}
              data={VIEWS.map((value) => ({ value, label: t(`requests.views.${value}`) }))}
              value={isOfErrors ? 'errors' : 'requests'}
              onChange={(view) => adjust({ view: view === 'errors' ? view : undefined })}
            />
            <FollowButton isFollowing={isFollowing} onChange={setFollowing} />
            <SavedViewsMenu filters={filters} />
            <ColumnPicker {...{ chosen, isShared, width }} onChange={setChosen} />
            <MoreMenu query={query} />
          </>
        }
      />
      <FilterBar {...{ filters, replicas }} onChange={adjust} />
      <Histogram
        query={query}
        isZoomed={filters.from !== undefined || filters.to !== undefined}
        isFollowing={isFollowing}
        onZoom={({ from, to }) => open({ range: undefined, from: String(from), to: String(to) })}
        onZoomOut={() => adjust({ from: undefined, to: undefined })}
      />
      <div
        className={`requests-split${isBeside ? ' has-panel' : ''}${isPanelWide ? ' is-wide' : ''}`}
      >
        <div ref={place} className="requests-place">
          <Panel isFlush className="requests-panel">
            {isOfErrors && <ErrorGroups query={query} search={texts} />}
            {!isOfErrors && (
              <Rows
                list={list}
                isEmpty={list.rows?.length === 0 && running.rows.length === 0}
                isFiltered={countFilters(filters) > 0}
              >
                {(rows) => (
                  <RequestList
                    {...{
                      list,
                      rows,
                      running,
                      search: texts,
                      onTop: setAtTop,
                      isShared,
                      chosen,
                      width,
                    }}
                    onFollow={() => setFollowing(true)}
                  />
                )}
              </Rows>
            )}
          </Panel>
        </div>
        {isBeside && (
          <RequestPanel
            {...{ id, neighbours, onClose }}
            isWide={isPanelWide}
            onWiden={setPanelWide}
          />
        )}
      </div>
      {!hasRoom && <RequestDrawer {...{ id, neighbours, onClose }} />}
    </div>
  );
}

const VIEWS = ['requests', 'errors'] as const;

interface RowsProps {
  readonly list: RequestRows;
  readonly isEmpty: boolean;
  readonly isFiltered: boolean;
  readonly children: (rows: readonly RequestRow[]) => ReactNode;
}

function Rows({ list: { rows, error, retry }, isEmpty, isFiltered, children }: RowsProps) {
  if (rows === undefined) return <NotLoaded isMain error={error} onRetry={retry} height={320} />;
  return isEmpty ? <NoRequests isFiltered={isFiltered} /> : children(rows);
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
  const may = useMay('operator');
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
        {may && <RemoveItem onClick={ask}>{t('requests.forget')}</RemoveItem>}
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

/** In whole pixels; 0 while there is no such element. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = (): void => setWidth(Math.floor(current.getBoundingClientRect().width));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

interface ColumnPickerProps {
  /** Undefined where nobody chose any. */
  readonly chosen: readonly Choice[] | undefined;
  readonly isShared: boolean;
  /** Of the list. */
  readonly width: number;
  readonly onChange: (chosen: readonly Choice[] | undefined) => void;
}

function ColumnPicker({ chosen, isShared, width, onChange }: ColumnPickerProps) {
  const { t } = useTranslation();
  const shown = chosen ?? usualChoice(width, isShared);
  const toggle = (id: Choice): void => {
    const next = shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id];
    onChange(CHOICES.filter((one) => next.includes(one)));
  };
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon
          className="column-picker"
          variant="default"
          size={36}
          aria-label={t('requests.chooseColumns')}
        >
          <IconColumns size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map((id) => (
          <Menu.CheckboxItem key={id} checked={shown.includes(id)} onChange={() => toggle(id)}>
            {t(`requests.columns.${id}`)}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onChange(undefined)} disabled={chosen === undefined}>
          {t('requests.usualColumns')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
