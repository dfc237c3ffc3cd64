// What was used: over time, by whom, and what the caches saved.

import { Button, SegmentedControl, Select } from '@mantine/core';
import { IconChartBar, IconDownload, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Latency, LeadingUsage } from '../../../../src/admin/contract.ts';
import { withQuery } from '../../api/client.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { latencyQuery } from '../../api/queries/latency.ts';
import {
  NARROWING,
  USAGE_GROUPS,
  type UsageQuery,
  usageQuery,
  useReadUsage,
} from '../../api/queries/usage.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { LatencyChart } from '../../components/latency-chart.tsx';
import { LatencyFigures } from '../../components/latency-figures.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { useNow } from '../../components/now.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { saveFile } from '../../components/save-file.ts';
import { TimeZoneSelect } from '../../components/time-zone-select.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { GroupTable } from './group-table.tsx';
import { ModelPanel } from './model-panel.tsx';
import { Totals } from './totals.tsx';
import { UsageChart } from './usage-chart.tsx';
import { PERIODS, readView, startOfPeriod, stepsOf, type UsageView } from './usage-view.ts';
import { nameGroups } from './use-group-names.ts';
import { useStepNames } from './use-step-names.ts';
import { writeCsv } from './write-csv.ts';
import './page.css';

export function UsagePage() {
  const { t } = useTranslation();
  const { texts, adjust } = useSearchTexts();
  const now = useNow();
  const view = readView(texts);
  const { step, by, zone, filter } = view;
  const from = startOfPeriod(view.period, now, zone);
  const asked = { from, step, by, timeZone: zone, filter };
  const { data, error, refetch } = useQuery(usageQuery(asked));
  const latency = useQuery(latencyQuery(asked));
  return (
    <>
      <PageHeader
        title={t('shell.pages.usage')}
        subtitle={t('usage.subtitle')}
        actions={
          <>
            <Button
              component="a"
              variant="default"
              href={withQuery('/api/export/usage', { from, step, timeZone: zone, ...filter })}
              download
            >
              {t('usage.exportAll')}
            </Button>
            <Download asked={asked} period={view.period} isEmpty={!data?.groupCount} />
          </>
        }
      />
      <ViewBar view={view} onChange={adjust} />
      <Shortcuts view={view} onChange={adjust} />
      {data === undefined && (
        <NotLoaded error={error} onRetry={() => void refetch()} isMain height={420} />
      )}
      {data !== undefined && <UsageBody usage={data} latency={latency.data} view={view} />}
    </>
  );
}

interface ViewBarProps {
  readonly view: UsageView;
  readonly onChange: (change: Readonly<Record<string, string | undefined>>) => void;
}

function ViewBar({ view, onChange }: ViewBarProps) {
  const { t } = useTranslation();
  return (
    <div className="usage-bar">
      <div className="usage-field">
        <span className="usage-label">{t('usage.period')}</span>
        <SegmentedControl
          aria-label={t('usage.period')}
          data={PERIODS.map((value) => ({ value, label: t(`usage.periods.${value}`) }))}
          value={view.period}
          onChange={(period) => onChange({ period, step: undefined })}
        />
      </div>
      <div className="usage-field">
        <span className="usage-label">{t('usage.step')}</span>
        <SegmentedControl
          aria-label={t('usage.step')}
          data={stepsOf(view.period).map((value) => ({ value, label: t(`usage.steps.${value}`) }))}
          value={view.step}
          onChange={(step) => onChange({ step })}
        />
      </div>
      <Select
        label={t('usage.by')}
        className="usage-by"
        data={USAGE_GROUPS.map((value) => ({ value, label: t(`usage.groups.${value}`) }))}
        value={view.by}
        onChange={(by) => onChange({ by: by ?? undefined })}
        allowDeselect={false}
      />
      <TimeZoneSelect
        className="usage-zone"
        label={t('usage.zone')}
        value={view.zone}
        onChange={(zone) => onChange({ zone })}
      />
    </div>
  );
}

const OWNERS = ['owner', 'team', 'key'] as const;

/** What people come for most, and what the page is narrowed to. */
function Shortcuts({ view, onChange }: ViewBarProps) {
  const { t } = useTranslation();
  const { data } = useQuery(keysQuery);
  const narrowed = NARROWING.flatMap((what) => {
    const value = view.filter[what];
    if (value === undefined) return [];
    const named = what === 'key' ? data?.keys.find(({ id }) => id === value)?.name : undefined;
    return [{ what, name: named ?? value }];
  });
  const say = (what: (typeof NARROWING)[number], name: string): string =>
    t('usage.only', { what: t(`usage.groups.${what}`), name });
  return (
    <div className="usage-shortcuts">
      <span className="dimmed">{t('usage.periods.thisMonth')}</span>
      {OWNERS.map((by) => (
        <Button
          key={by}
          size="compact-sm"
          variant={view.period === 'thisMonth' && view.by === by ? 'filled' : 'default'}
          onClick={() => onChange({ period: 'thisMonth', step: undefined, by })}
        >
          {t(`usage.byTitles.${by}`)}
        </Button>
      ))}
      {narrowed.map(({ what, name }) => (
        <Button
          key={what}
          className="usage-narrowed"
          size="compact-sm"
          variant="light"
          rightSection={<IconX size={14} />}
          aria-label={t('usage.widen', { name: say(what, name) })}
          onClick={() => onChange({ [what]: undefined })}
        >
          {say(what, name)}
        </Button>
      ))}
    </div>
  );
}

interface UsageBodyProps {
  readonly usage: LeadingUsage;
  /** Undefined until it is there. */
  readonly latency: Latency | undefined;
  readonly view: UsageView;
}

function UsageBody({ usage, latency, view }: UsageBodyProps) {
  const { t } = useTranslation();
  const { model: name } = view.filter;
  const model = name !== undefined && <ModelPanel model={name} view={view} />;
  if (usage.totals.length === 0) {
    return (
      <div className="usage-body">
        {model}
        <Panel>
          <EmptyNote
            icon={<IconChartBar size={32} stroke={1.5} />}
            title={t('usage.empty')}
            hint={t('usage.emptyHint')}
            action={
              <LinkButton to="/playground" variant="default">
                {t('requests.toPlayground')}
              </LinkButton>
            }
          />
        </Panel>
      </div>
    );
  }
  return (
    <div className="usage-body">
      {model}
      <Totals buckets={usage.totals} />
      <UsageChart usage={usage} view={view} />
      <LatencyPanel latency={latency} view={view} />
      {view.by !== 'none' && (
        <GroupTable usage={usage} view={view} latencies={latency?.groups ?? []} />
      )}
    </div>
  );
}

interface DownloadProps {
  readonly asked: UsageQuery;
  readonly period: UsageView['period'];
  readonly isEmpty: boolean;
}

/** Of every group, also of those that the page leaves out. */
function Download({ asked, period, isEmpty }: DownloadProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const all = useReadUsage();
  const { by } = asked;
  const save = (): void =>
    all.mutate(asked, {
      onSuccess: (usage) => {
        const grouping = by === 'none' ? undefined : { by, nameOf: nameGroups(usage.buckets, t) };
        saveFile(`isthmus-usage-${period}-${by}.csv`, writeCsv(usage, grouping));
      },
      onError: toasts.failed,
    });
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      disabled={isEmpty}
      loading={all.isPending}
      onClick={save}
    >
      {t('usage.download')}
    </Button>
  );
}

interface LatencyPanelProps {
  /** Undefined until it is there. */
  readonly latency: Latency | undefined;
  readonly view: UsageView;
}

function LatencyPanel({ latency, view }: LatencyPanelProps) {
  const { t } = useTranslation();
  const names = useStepNames(view);
  return (
    <Panel title={t('common.latency')} hint={t('common.latencyHint')}>
      <div className="usage-latency">
        <LatencyFigures figures={latency?.all} />
        <LatencyChart spans={latency?.spans} titleOf={names.title} />
      </div>
    </Panel>
  );
}
