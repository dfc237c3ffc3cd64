// One request in the list.

import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { openedOver, type SearchTexts } from '../../components/use-search-texts.ts';
import { useFaults } from '../../i18n/use-sentences.ts';
import type { ColumnId } from './columns.ts';
import { Outcome } from './outcome.tsx';
import { shortSession } from './short-session.ts';

export interface RequestLineProps {
  readonly row: RequestRow;
  readonly search: SearchTexts;
  readonly columns: readonly ColumnId[];
  readonly tabIndex: 0 | -1;
}

export const RequestLine = memo(function RequestLine(props: RequestLineProps) {
  const { row, search, columns, tabIndex } = props;
  const say = useFaults(row.error !== undefined);
  const { outcome, error } = row;
  return (
    <Link
      to="/requests"
      search={() => ({ ...search, id: row.id })}
      // Another one in its place takes no step in the browser's history.
      state={search.id === undefined ? openedOver(search) : true}
      replace={search.id !== undefined}
      resetScroll={false}
      tabIndex={tabIndex}
      className={`request-line${search.id === row.id ? ' is-open' : ''}`}
      aria-current={search.id === row.id ? 'true' : undefined}
    >
      {columns.map((id) => (
        <Cell key={id} id={id} row={row} />
      ))}
      {error !== undefined && (
        <span className={`request-error one-line is-${outcome}`}>{say(error)}</span>
      )}
    </Link>
  );
});

function Cell({ id, row }: { readonly id: ColumnId; readonly row: RequestRow }) {
  const { t } = useTranslation();
  const format = useFormat();
  switch (id) {
    case 'when':
      return <When at={row.at} />;
    case 'status':
      return (
        <span className="request-status">
          <Outcome row={row} />
        </span>
      );
    case 'model':
      return <Model row={row} />;
    case 'protocol':
      return <TextCell id={id} text={row.protocol} />;
    case 'stream':
      return (
        <TextCell id={id} text={row.stream ? t('requests.isStream') : t('requests.isWhole')} />
      );
    case 'account':
      return <TextCell id={id} text={row.account} />;
    case 'key':
      return <TextCell id={id} text={row.keyName ?? row.keyId} />;
    case 'client':
      return <TextCell id={id} text={row.clientAddress} />;
    case 'session':
      return <TextCell id={id} text={row.session && shortSession(row.session)} />;
    case 'replica':
      return <TextCell id={id} text={row.replica} />;
    case 'tokens':
      return (
        <span className="request-tokens dimmed">
          <RequestTokens row={row} />
        </span>
      );
    case 'first':
      return (
        <span className="request-first is-figure dimmed">
          {row.stream && row.firstEventMs !== undefined ? format.duration(row.firstEventMs) : '–'}
        </span>
      );
    case 'cost':
      return (
        <span className="request-cost is-figure dimmed">
          <RowCost row={row} />
        </span>
      );
    case 'took':
      return <span className="request-time is-figure">{format.duration(row.totalMs)}</span>;
    default:
      return id satisfies never;
  }
}

interface TextCellProps {
  readonly id: ColumnId;
  readonly text: string | undefined;
}

function TextCell({ id, text }: TextCellProps) {
  return (
    <span className={`request-${id} one-line dimmed`} title={text}>
      {text === undefined || text === '' ? <span className="is-nobody">–</span> : text}
    </span>
  );
}

function When({ at }: { readonly at: number }) {
  const format = useFormat();
  const clock = useClock();
  return (
    <time
      className="request-when mono"
      dateTime={new Date(at).toISOString()}
      title={format.absolute(at)}
    >
      {clock.time(at)}
    </time>
  );
}

function Model({ row }: { readonly row: RequestRow }) {
  const { t } = useTranslation();
  const { model } = row;
  const target = row.upstreamModel ?? row.routedModel;
  return (
    <span className="request-model" title={model}>
      <span className="request-names">
        <span className="one-line">
          {model === '' ? <span className="dimmed">{row.path}</span> : model}
          {target !== undefined && target !== model && (
            <span className="request-target dimmed"> → {target}</span>
          )}
        </span>
        {row.retries > 0 && (
          <span className="request-mark">{t('requests.retries', { count: row.retries })}</span>
        )}
        <ReceiptMark row={row} />
      </span>
    </span>
  );
}

function RequestTokens({ row }: { readonly row: RequestRow }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { inputTokens, outputTokens, images } = row;
  if (images !== undefined && images > 0) return t('requests.images', { count: images });
  if (inputTokens === undefined && outputTokens === undefined) return '–';
  return t('requests.inOut', {
    input: format.compact(inputTokens ?? 0),
    output: format.compact(outputTokens ?? 0),
  });
}

/** What flat-rate accounts would have cost stands in brackets. */
function RowCost({ row: { costNanos, flatRateNanos } }: { readonly row: RequestRow }) {
  const format = useFormat();
  if (costNanos !== undefined) return format.money(costNanos);
  return flatRateNanos === undefined ? '–' : `(${format.money(flatRateNanos)})`;
}

function ReceiptMark({ row }: { readonly row: RequestRow }) {
  const { t } = useTranslation();
  const { dropped, approximated, repaired } = row.receipt;
  const count = dropped + approximated + repaired;
  if (count === 0) return null;
  return (
    <span className={`request-mark${dropped > 0 ? ' is-warn' : ''}`}>
      {t('requests.notes', { count })}
    </span>
  );
}
