// The log of the gateway: levels, search, and a list that follows it.

import { Button, Select, TextInput } from '@mantine/core';
import {
  IconChevronRight,
  IconFileText,
  IconPlayerPause,
  IconPlayerPlay,
  IconSearch,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { TextView } from '../../components/text-view.tsx';
import { useAddressText } from '../../components/use-address-text.ts';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { findRequestId, sumUpFields } from './sum-up-fields.ts';
import { LOG_LEVELS, type NumberedLine, toneOfLevel, useLogLines } from './use-log-lines.ts';
import './page.css';

const keyOf = ({ id }: NumberedLine): string => id;

export function LogsPage() {
  const { t } = useTranslation();
  const { texts, adjust } = useSearchTexts();
  const [isFollowing, setFollowing] = useState(true);
  const [isAtTop, setAtTop] = useState(true);
  const level = LOG_LEVELS.find((one) => one === texts.level);
  const { search } = texts;
  const [typed, setTyped] = useAddressText('search');
  const log = useLogLines({ level, search: search?.trim() || undefined, isFollowing, isAtTop });
  const { lines, waiting } = log;
  return (
    <div className="logs-page">
      <PageHeader
        title={t('shell.pages.logs')}
        subtitle={t('logs.subtitle')}
        actions={
          <Button
            variant="default"
            leftSection={isFollowing ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
            onClick={() => setFollowing(!isFollowing)}
          >
            {t(isFollowing ? 'logs.pause' : 'logs.follow')}
          </Button>
        }
      />
      <search className="logs-bar">
        <TextInput
          data-page-search
          type="search"
          className="logs-search"
          aria-label={t('logs.search')}
          placeholder={t('logs.search')}
          leftSection={<IconSearch size={16} />}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Select
          aria-label={t('logs.level')}
          placeholder={t('logs.anyLevel')}
          data={LOG_LEVELS.map((value) => ({ value, label: t(`logs.levels.${value}`) }))}
          value={level ?? null}
          onChange={(value) => adjust({ level: value ?? undefined })}
          clearable
        />
      </search>
      <Panel isFlush className="logs-panel">
        {lines === undefined && (
          <NotLoaded isMain error={log.error} onRetry={log.retry} height={320} />
        )}
        {lines?.length === 0 && (
          <NoLines isFiltered={level !== undefined || search !== undefined} />
        )}
        {lines !== undefined && lines.length > 0 && (
          <VirtualRows
            label={t('logs.list')}
            rows={lines}
            keyOf={keyOf}
            rowHeight={31}
            hasMore={log.hasMore}
            onMore={log.readMore}
            onTop={setAtTop}
            waiting={waiting > 0 ? t('logs.newLines', { count: waiting }) : undefined}
            renderRow={(line, tabIndex) => <LogRow line={line} tabIndex={tabIndex} />}
          />
        )}
      </Panel>
    </div>
  );
}

function NoLines({ isFiltered }: { readonly isFiltered: boolean }) {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconFileText size={32} stroke={1.5} />}
      title={t(isFiltered ? 'logs.noMatch' : 'logs.empty')}
      hint={t(isFiltered ? 'logs.noMatchHint' : 'logs.emptyHint')}
    />
  );
}

interface LogRowProps {
  readonly line: NumberedLine;
  readonly tabIndex: 0 | -1;
}

function LogRow({ line, tabIndex }: LogRowProps) {
  const { t } = useTranslation();
  const clock = useClock();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const { at, level, message, fields } = line;
  const requestId = findRequestId(fields);
  return (
    <div className={isOpen ? 'log-row is-open' : 'log-row'}>
      <button
        type="button"
        className="log-line"
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <IconChevronRight className="log-arrow" size={14} aria-hidden="true" />
        <time
          className="mono dimmed"
          dateTime={new Date(at).toISOString()}
          title={format.absolute(at)}
        >
          {clock.exact(at)}
        </time>
        <span className="log-level">
          <StatusMark tone={toneOfLevel(level)}>{level}</StatusMark>
        </span>
        <span className="log-message mono">
          {message}
          <span className="dimmed">{sumUpFields(fields)}</span>
        </span>
      </button>
      {isOpen && (
        <div className="log-fields">
          {requestId !== undefined && (
            <Link to="/requests" search={{ id: requestId }}>
              {t('logs.openRequest')}
            </Link>
          )}
          <TextView text={JSON.stringify(fields, null, 2)} label={t('logs.fields')} isPlain />
        </div>
      )}
    </div>
  );
}
