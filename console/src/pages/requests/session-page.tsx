// One run of an agent: what it came to, the account it is bound to, its calls over time and its tools in order.

import { Button } from '@mantine/core';
import { IconRoute, IconUnlink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RequestRow, RequestSession, SessionTool } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../api/client.ts';
import { requestSessionQuery, useReleaseSession } from '../../api/queries/requests.ts';
import { useMay } from '../../api/queries/session.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { formatJson } from '../../components/format-json.ts';
import { LinkButton } from '../../components/link-button.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { ScrollRegion } from '../../components/scroll-region.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { TextView } from '../../components/text-view.tsx';
import { RelativeTime } from '../../components/times.tsx';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { Totals } from '../usage/totals.tsx';
import { Outcome } from './outcome.tsx';
import { shortSession } from './short-session.ts';
import '../usage/page.css';
import { useAccountNames } from './use-account-names.ts';
import '../../components/stacking-table.css';
import './session-page.css';

export function SessionPage() {
  const { t } = useTranslation();
  const { texts } = useSearchTexts();
  const { session = '' } = texts;
  const { data, error, refetch } = useQuery(requestSessionQuery(session));
  const isGone = session === '' || (error instanceof ApiError && error.status === 404);
  return (
    <div className="session-page">
      <PageHeader
        title={t('requests.sessionTitle', { session: shortSession(session) })}
        subtitle={t('requests.sessionSubtitle')}
        actions={
          <LinkButton to="/requests" search={{ session }} variant="default">
            {t('requests.sessionRequests')}
          </LinkButton>
        }
      />
      {data !== undefined && <SessionBody session={data} />}
      {data === undefined && isGone && (
        <Panel>
          <EmptyNote
            icon={<IconRoute size={32} stroke={1.5} />}
            title={t('requests.noSession')}
            hint={t('requests.notFoundHint')}
          />
        </Panel>
      )}
      {data === undefined && !isGone && (
        <NotLoaded isMain error={error} onRetry={() => void refetch()} height={420} />
      )}
    </div>
  );
}

function SessionBody({ session }: { readonly session: RequestSession }) {
  return (
    <div className="usage-body">
      <Totals buckets={[session]} />
      <Binding session={session} />
      <Timeline session={session} />
      <Tools tools={session.tools} />
    </div>
  );
}

function Binding({ session: { session, binding } }: { readonly session: RequestSession }) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const release = useReleaseSession(session);
  const mayRelease = useMay('operator');
  const { nameOf } = useAccountNames();
  if (binding === null) {
    return <Panel title={t('requests.binding')}>{t('requests.notBound')}</Panel>;
  }
  const end = (): void =>
    void release
      .mutateAsync(binding.id)
      .then(() => toasts.done(t('requests.released')), toasts.failed);
  const name = binding.account ?? binding.accountId;
  return (
    <Panel
      title={t('requests.binding')}
      hint={t('requests.bindingHint')}
      actions={
        mayRelease && (
          <Button
            variant="default"
            leftSection={<IconUnlink size={16} />}
            loading={release.isPending}
            onClick={end}
          >
            {t('requests.release')}
          </Button>
        )
      }
    >
      <Link to="/accounts" search={{ q: name }} className="wrap-anywhere">
        {name}
      </Link>{' '}
      <span className="dimmed">
        {t('requests.boundUntil')} <RelativeTime at={binding.expiresAt} />
      </span>
      {binding.detours.map(({ model, accountId }) => (
        <span key={model} className="sub-line wrap-anywhere">
          {t('requests.detour', { model, account: nameOf(accountId) })}
        </span>
      ))}
    </Panel>
  );
}

function Timeline({ session }: { readonly session: RequestSession }) {
  const { t } = useTranslation();
  const { calls, requests } = session;
  const first = calls[0]?.at ?? 0;
  const end = Math.max(...calls.map(({ at, totalMs }) => at + totalMs), first + 1);
  return (
    <Panel
      isFlush
      title={t('requests.calls')}
      hint={
        requests > calls.length ? t('requests.latestCalls', { count: calls.length }) : undefined
      }
    >
      <ScrollRegion className="table-scroll" label={t('requests.timeline')}>
        <table className="plain-table is-stacking session-calls">
          <thead>
            <tr>
              <th scope="col">{t('requests.columns.when')}</th>
              <th scope="col">{t('requests.status')}</th>
              <th scope="col">{t('requests.model')}</th>
              <th scope="col" className="session-bar-head">
                {t('requests.timeline')}
              </th>
              <th scope="col">{t('requests.account')}</th>
              <th scope="col" className="numeric">
                {t('requests.columns.tokens')}
              </th>
              <th scope="col" className="numeric">
                {t('requests.cachedShare')}
              </th>
              <th scope="col" className="numeric">
                {t('requests.cost')}
              </th>
              <th scope="col" className="numeric">
                {t('requests.columns.took')}
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => (
              <Call key={call.id} call={call} first={first} whole={end - first} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Panel>
  );
}

/** How much of its cell the timeline takes, in percent: the account stands close behind it. */
const BAR = 90;

interface CallProps {
  readonly call: RequestRow;
  readonly first: number;
  /** How long all of them took together. */
  readonly whole: number;
}

function Call({ call, first, whole }: CallProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const clock = useClock();
  const { inputTokens, outputTokens, cachedTokens = 0, costNanos, flatRateNanos } = call;
  const cost = costNanos ?? flatRateNanos;
  const start = ((call.at - first) / whole) * BAR;
  const width = Math.max(0.5, (call.totalMs / whole) * BAR);
  return (
    <tr>
      <td className="is-lead">
        <Link
          to="/requests"
          search={{ session: call.session ?? '', id: call.id }}
          className="mono session-when"
        >
          {clock.time(call.at)}
        </Link>
      </td>
      <td className="session-status">
        <Outcome row={call} />
      </td>
      <td>
        <span className="cell-label">{t('requests.model')}</span>
        <span className="session-name" title={call.upstreamModel ?? call.model}>
          {call.upstreamModel ?? call.model}
        </span>
      </td>
      <td className="session-bar" aria-hidden="true">
        <span style={{ insetInlineStart: `${start}%`, inlineSize: `${width}%` }} />
      </td>
      <td>
        <span className="cell-label">{t('requests.account')}</span>
        <span className="session-name" title={call.account}>
          {call.account ?? '–'}
        </span>
      </td>
      <td className="numeric session-tokens">
        <span className="cell-label">{t('requests.columns.tokens')}</span>
        {inputTokens === undefined && outputTokens === undefined
          ? '–'
          : t('requests.inOut', {
              input: format.compact(inputTokens ?? 0),
              output: format.compact(outputTokens ?? 0),
            })}
      </td>
      <td className="numeric">
        <span className="cell-label">{t('requests.cachedShare')}</span>
        {inputTokens === undefined || inputTokens === 0
          ? '–'
          : format.percent(Math.min(100, (cachedTokens / inputTokens) * 100))}
      </td>
      <td className="numeric">
        <span className="cell-label">{t('requests.cost')}</span>
        {cost === undefined ? '–' : format.money(cost)}
      </td>
      <td className="numeric is-corner">{format.duration(call.totalMs)}</td>
    </tr>
  );
}

function Tools({ tools }: { readonly tools: readonly SessionTool[] }) {
  const { t } = useTranslation();
  return (
    <Panel title={t('requests.tools')} hint={t('requests.toolsHint')}>
      {tools.length === 0 ? (
        <p className="form-note">{t('requests.noTools')}</p>
      ) : (
        <ol className="session-tools">
          {tools.map((tool) => (
            <li key={tool.id}>
              <Tool tool={tool} />
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function Tool({ tool }: { readonly tool: SessionTool }) {
  const { t } = useTranslation();
  const { name, result, isError } = tool;
  const tone = result === undefined ? 'idle' : isError === true ? 'bad' : 'ok';
  const state = result === undefined ? 'toolPending' : isError === true ? 'toolFailed' : 'toolDone';
  return (
    <details>
      <summary>
        <strong className="wrap-anywhere">{name}</strong>{' '}
        <StatusMark tone={tone}>{t(`requests.${state}`)}</StatusMark>
      </summary>
      <TextView
        text={formatJson(tool.arguments)}
        label={t('requests.toolArguments', { name })}
        isPlain
      />
      {result !== undefined && (
        <TextView text={formatJson(result)} label={t('requests.toolResult', { name })} isPlain />
      )}
    </details>
  );
}
