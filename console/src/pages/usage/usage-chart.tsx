// Tokens or requests over time, stacked by what they were or by whom.

import { SegmentedControl } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LeadingUsage } from '../../../../src/admin/contract.ts';
import { LEADING_GROUPS } from '../../api/queries/usage.ts';
import { Panel } from '../../components/panel.tsx';
import { type Column, type Series, StackedColumns } from '../../components/stacked-columns.tsx';
import { useFormat } from '../../components/use-format.ts';
import {
  allTokens,
  freshTokens,
  NO_USAGE,
  type StepSum,
  sumBySteps,
  type UsageSum,
} from './sum-usage.ts';
import { searchOfGroup, type UsageView } from './usage-view.ts';
import { useGroupNames } from './use-group-names.ts';
import { useStepNames } from './use-step-names.ts';

const MEASURES = ['tokens', 'requests'] as const;
type Measure = (typeof MEASURES)[number];

export interface UsageChartProps {
  readonly usage: LeadingUsage;
  readonly view: UsageView;
}

export function UsageChart({ usage, view }: UsageChartProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const [measure, setMeasure] = useState<Measure>('tokens');
  const names = useStepNames(view);
  const stacks = useStacks(usage, view, measure);
  const steps = useMemo(() => sumBySteps(usage), [usage]);
  const columns = steps.map(
    (step): Column => ({
      id: String(step.at),
      tick: names.tick(step.at),
      title: names.title(step.at),
      values: new Map(stacks.map(({ id, read }) => [id, read(step)])),
    }),
  );
  const amount = measure === 'tokens' ? allTokens : ({ requests }: UsageSum) => requests;
  const peak = Math.max(0, ...steps.map(({ sum }) => amount(sum)));
  const navigate = useNavigate();
  const open = (column: string, series?: string): void => {
    const index = steps.findIndex(({ at }) => String(at) === column);
    const next = steps[index + 1]?.at;
    const part = series === undefined ? {} : searchOfPart(series, view.by, measure);
    const time = { from: column, ...(next === undefined ? {} : { to: String(next) }) };
    void navigate({ to: '/requests', search: { ...view.filter, ...time, ...part } });
  };
  return (
    <Panel
      title={t(measure === 'tokens' ? 'usage.chartTitle' : 'usage.chartTitleErrors')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('usage.show')}
          data={MEASURES.map((value) => ({ value, label: t(`usage.measures.${value}`) }))}
          value={measure}
          onChange={setMeasure}
        />
      }
    >
      <StackedColumns
        series={stacks}
        columns={columns}
        onOpen={open}
        label={t('usage.chartLabel', {
          measure: t(`usage.measures.${measure}`),
          from: columns[0]?.title ?? '',
          to: columns.at(-1)?.title ?? '',
          peak: format.compact(peak),
        })}
      />
    </Panel>
  );
}

/** The requests behind a part of a column; those of kinds of tokens and of all others are all of them. */
function searchOfPart(
  series: string,
  by: UsageView['by'],
  measure: Measure,
): Readonly<Record<string, string>> {
  if (measure === 'requests') return { status: series === 'failed' ? 'error' : 'ok' };
  return series === OTHERS ? {} : searchOfGroup(by, series);
}

const OTHERS = ' others';

interface Stack extends Series {
  readonly read: (step: StepSum) => number;
}

function useStacks(usage: LeadingUsage, { by }: UsageView, measure: Measure): readonly Stack[] {
  const { t } = useTranslation();
  const nameOf = useGroupNames(usage.groups);
  if (measure === 'requests') return stackOutcomes(t('usage.kinds.good'), t('usage.kinds.failed'));
  if (by === 'none') {
    return KINDS.map(({ id, tone, pick }) => ({
      id,
      tone,
      name: t(`usage.kinds.${id}`),
      read: ({ sum }) => pick(sum),
    }));
  }
  const stacks = usage.groups.slice(0, LEADING_GROUPS).map(
    ({ group }, index): Stack => ({
      id: group,
      name: nameOf(group),
      tone: String(index),
      read: ({ groups }) => allTokens(groups.get(group) ?? NO_USAGE),
    }),
  );
  if (usage.others.length === 0) return stacks;
  const read = ({ others }: StepSum): number => allTokens(others);
  return [...stacks, { id: OTHERS, name: t('usage.others'), tone: 'rest', read }];
}

/** What goes in holds what came from the cache and what went into it, what comes out holds the thinking. */
const KINDS: readonly {
  readonly id: 'fresh' | 'written' | 'cached' | 'thought' | 'output';
  readonly tone: string;
  readonly pick: (sum: UsageSum) => number;
}[] = [
  { id: 'fresh', tone: '0', pick: freshTokens },
  { id: 'written', tone: '4', pick: (sum) => Math.min(sum.cacheWriteTokens, sum.inputTokens) },
  { id: 'cached', tone: '1', pick: (sum) => Math.min(sum.cachedTokens, sum.inputTokens) },
  { id: 'thought', tone: '3', pick: (sum) => Math.min(sum.thoughtTokens, sum.outputTokens) },
  { id: 'output', tone: '2', pick: (sum) => Math.max(0, sum.outputTokens - sum.thoughtTokens) },
];

function stackOutcomes(good: string, failed: string): readonly Stack[] {
  return [
    { id: 'good', name: good, tone: '0', read: ({ sum }) => sum.requests - sum.errors },
    { id: 'failed', name: failed, tone: 'bad', read: ({ sum }) => sum.errors },
  ];
}
