// Who or what used how much, the most first.

import { Link } from '@tanstack/react-router';
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

const FIGURES = [
  ...(['requests', 'errors', 'input', 'output', 'cache', 'images', 'cost', 'flatRate'] as const),
  ...(['duration', 'firstToken', 'speed'] as const),
];

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
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">{t(`usage.groups.${by}`)}</th>
              {FIGURES.map((figure) => (
                <th key={figure} scope="col" className="numeric">
                  {t(`usage.${figure}`)}
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
      <td className="group-name">
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
        <Link to="/requests" search={search}>
          {format.number(sum.requests)}
        </Link>
      </td>
      <td className={sum.errors > 0 ? 'numeric is-bad' : 'numeric dimmed'}>
        {sum.errors === 0 ? (
          format.number(0)
        ) : (
          <Link to="/requests" search={{ ...search, status: 'error' }}>
            {format.number(sum.errors)}
          </Link>
        )}
      </td>
      <td className="numeric" title={format.number(sum.inputTokens)}>
        {format.compact(sum.inputTokens)}
      </td>
      <td className="numeric" title={format.number(sum.outputTokens)}>
        {format.compact(sum.outputTokens)}
      </td>
      <td className="numeric">{share === undefined ? '–' : format.percent(share * 100)}</td>
      <td className="numeric">{format.number(sum.images)}</td>
      <td className="numeric">{isPriced ? format.money(sum.costNanos) : '–'}</td>
      <td className="numeric">{isPriced ? format.money(sum.flatRateNanos) : '–'}</td>
      <td className="numeric">
        {latency.duration === undefined
          ? '–'
          : `${time(latency.duration.p50)} · ${time(latency.duration.p95)}`}
      </td>
      <td className="numeric">{time(latency.firstToken?.p50)}</td>
      <td className="numeric">
        {latency.tokensPerSecond === undefined ? '–' : format.number(latency.tokensPerSecond)}
      </td>
    </tr>
  );
}
