// Who or what used how much, the most first.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Latency, LatencyFigures, LeadingUsage } from '../../../../src/admin/contract.ts';
import { Panel } from '../../components/panel.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { useFormat } from '../../components/use-format.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { allTokens, cacheShare } from './sum-usage.ts';
import { searchOfGroup, type UsageView } from './usage-view.ts';
import { useGroupNames } from './use-group-names.ts';
import '../../components/stacking-table.css';

export interface GroupTableProps {
  readonly usage: LeadingUsage;
  readonly view: UsageView;
  readonly latencies: Latency['groups'];
}

/** Two figures share a column. */
const COLUMNS = [
  ['requests', 'errors'],
  ['input', 'output'],
  ['cache', 'images'],
  ['cost', 'flatRate'],
  ['duration', 'slowDuration'],
  ['firstToken', 'speed'],
] as const;

export function GroupTable({ usage, view, latencies }: GroupTableProps) {
  const { t } = useTranslation();
  const { texts } = useSearchTexts();
  const format = useFormat();
  const { by, filter } = view;
  const { groups, groupCount, spans } = usage;
  const nameOf = useGroupNames(groups);
  const latencyOf = new Map(latencies.map((one) => [one.group, one]));
  const [first] = groups;
  const most = first === undefined ? 0 : allTokens(first);
  return (
    <Panel isFlush title={t(`usage.byTitles.${by}`)}>
      <ScrollRegion className="table-scroll" label={t('usage.table')}>
        <table className="plain-table is-stacking group-table">
          <thead>
            <tr>
              <th scope="col">{t(`usage.groups.${by}`)}</th>
              {COLUMNS.map((figures) => (
                <th key={figures[0]} scope="col" className="numeric">
                  {figures.map((figure) => (
                    <span key={figure} className="group-figure">
                      {t(`usage.${figure}`)}
                    </span>
                  ))}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((row) => (
              <GroupRow
                key={row.group}
                row={row}
                latency={latencyOf.get(row.group) ?? {}}
                name={nameOf(row.group)}
                most={most}
                search={{
                  ...filter,
                  ...searchOfGroup(by, row.group),
                  from: String(spans[0] ?? 0),
                }}
                modelSearch={
                  by === 'model' && row.group !== ''
                    ? { ...texts, model: row.group, by: 'account' }
                    : undefined
                }
              />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {groupCount > groups.length && (
        <p className="group-rest dimmed">
          {t('usage.moreGroups', {
            shown: format.number(groups.length),
            all: format.number(groupCount),
          })}
        </p>
      )}
    </Panel>
  );
}

interface GroupRowProps {
  readonly row: LeadingUsage['groups'][number];
  readonly latency: LatencyFigures;
  readonly name: string;
  readonly most: number;
  /** Leads to its requests. */
  readonly search: Readonly<Record<string, string>>;
  /** Leads to the usage of the model that it is. */
  readonly modelSearch: Readonly<Record<string, string>> | undefined;
}

function GroupRow({ row: sum, latency, name, most, search, modelSearch }: GroupRowProps) {
  const format = useFormat();
  const share = cacheShare(sum);
  const isPriced = sum.pricedRequests > 0;
  const time = (ms: number | undefined) => (ms === undefined ? '–' : format.duration(ms));
  const width = most === 0 ? 0 : (allTokens(sum) / most) * 100;
  return (
    <tr>
      <td className="is-lead group-name">
        <Link
          to={modelSearch === undefined ? '/requests' : '/usage'}
          search={modelSearch ?? search}
          className="wrap-anywhere"
        >
          {name}
        </Link>
        <span className="group-bar" aria-hidden="true">
          <span style={{ inlineSize: `${width}%` }} />
        </span>
      </td>
      <td className="numeric">
        <Figure of="requests">
          <Link to="/requests" search={search}>
            {format.number(sum.requests)}
          </Link>
        </Figure>
        <Figure of="errors">
          {sum.errors === 0 ? (
            format.number(0)
          ) : (
            <Link className="is-bad" to="/requests" search={{ ...search, status: 'error' }}>
              {format.number(sum.errors)}
            </Link>
          )}
        </Figure>
      </td>
      <td className="numeric">
        <Figure of="input" title={format.number(sum.inputTokens)}>
          {format.compact(sum.inputTokens)}
        </Figure>
        <Figure of="output" title={format.number(sum.outputTokens)}>
          {format.compact(sum.outputTokens)}
        </Figure>
      </td>
      <td className="numeric">
        <Figure of="cache">{share === undefined ? '–' : format.percent(share * 100)}</Figure>
        <Figure of="images">{format.number(sum.images)}</Figure>
      </td>
      <td className="numeric">
        <Figure of="cost">{isPriced ? format.money(sum.costNanos) : '–'}</Figure>
        <Figure of="flatRate">{isPriced ? format.money(sum.flatRateNanos) : '–'}</Figure>
      </td>
      <td className="numeric">
        <Figure of="duration">{time(latency.duration?.p50)}</Figure>
        <Figure of="slowDuration">{time(latency.duration?.p95)}</Figure>
      </td>
      <td className="numeric">
        <Figure of="firstToken">{time(latency.firstToken?.p50)}</Figure>
        <Figure of="speed">
          {latency.tokensPerSecond === undefined ? '–' : format.number(latency.tokensPerSecond)}
        </Figure>
      </td>
    </tr>
  );
}

interface FigureProps {
  readonly of: (typeof COLUMNS)[number][number];
  readonly title?: string;
  readonly children: ReactNode;
}

/** With its name where the table has no head. */
function Figure({ of, title, children }: FigureProps) {
  const { t } = useTranslation();
  return (
    <span className="group-figure" title={title}>
      <span className="cell-label">{t(`usage.${of}`)}</span>
      <span>{children}</span>
    </span>
  );
}
