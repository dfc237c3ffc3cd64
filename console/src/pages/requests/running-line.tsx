// One request under way, on top of the list, with the button that stops it.

import { Button } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useStopRequest } from '../../api/queries/requests.ts';
import { useMay } from '../../api/queries/session.ts';
import { useNow } from '../../components/now.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import type { ColumnId } from './columns.ts';
import { shortSession } from './short-session.ts';
import type { ShownRunningRow } from './use-running.ts';

export interface RunningLineProps {
  readonly row: ShownRunningRow;
  readonly columns: readonly ColumnId[];
  readonly tabIndex: 0 | -1;
}

export function RunningLine({ row, columns, tabIndex }: RunningLineProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const stop = useStopRequest();
  const may = useMay('operator');
  const end = (): void =>
    void stop.mutateAsync(row.id).then(() => toasts.done(t('requests.stopped')), toasts.failed);
  const name = row.model === '' ? row.surface : row.model;
  return (
    <div className="request-line is-running">
      {columns.map((id) => (
        <span key={id} className={`request-${id === 'took' ? 'time' : id} one-line`}>
          <RunningCell id={id} row={row} />
        </span>
      ))}
      {!row.hasEnded && (
        <Button
          className="request-stop"
          size="compact-xs"
          variant="default"
          leftSection={<IconPlayerStop size={14} />}
          loading={stop.isPending}
          disabled={!may}
          tabIndex={tabIndex}
          aria-label={t('requests.stopNamed', { name })}
          onClick={end}
        >
          {t('requests.stop')}
        </Button>
      )}
    </div>
  );
}

function RunningCell({ id, row }: { readonly id: ColumnId; readonly row: ShownRunningRow }) {
  const { t } = useTranslation();
  const format = useFormat();
  const clock = useClock();
  const now = useNow();
  switch (id) {
    case 'when':
      return <span className="mono">{clock.time(row.startedAt)}</span>;
    case 'status':
      return <RunningStatus row={row} />;
    case 'model':
      return (
        <>
          {row.model === '' ? <span className="dimmed">{row.surface}</span> : row.model}
          {row.upstreamModel !== undefined && row.upstreamModel !== row.model && (
            <span className="request-target dimmed"> → {row.upstreamModel}</span>
          )}
        </>
      );
    case 'protocol':
      return row.protocol;
    case 'stream':
      return row.stream === undefined
        ? '–'
        : t(row.stream ? 'requests.isStream' : 'requests.isWhole');
    case 'account':
      return row.account ?? '–';
    case 'key':
      return row.keyName ?? row.keyId;
    case 'client':
      return row.clientAddress;
    case 'session':
      return row.session === undefined ? '–' : shortSession(row.session);
    case 'replica':
      return row.replica ?? '–';
    case 'tokens':
      return row.outputTokens === undefined
        ? '–'
        : t('requests.tokensSoFar', { output: format.compact(row.outputTokens) });
    case 'first':
      return row.firstEventMs === undefined ? '–' : format.duration(row.firstEventMs);
    case 'cost':
      return '–';
    case 'took':
      return row.hasEnded ? '–' : format.duration(wholeSeconds(now - row.startedAt));
    default:
      return id satisfies never;
  }
}

function RunningStatus({ row }: { readonly row: ShownRunningRow }) {
  const { t } = useTranslation();
  if (row.hasEnded) return <span className="dimmed">{t('requests.runningEnded')}</span>;
  return (
    <StatusMark tone="idle">
      {row.attempt > 1
        ? t('requests.runningAttempt', { number: row.attempt })
        : t('requests.running')}
    </StatusMark>
  );
}

function wholeSeconds(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000) * 1000);
}
