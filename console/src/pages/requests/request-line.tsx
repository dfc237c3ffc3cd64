// One request in the list.

import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { useClock } from '../../components/use-clock.ts';
import { useFormat } from '../../components/use-format.ts';
import { openedOver, type SearchTexts } from '../../components/use-search-texts.ts';
import { useFaults } from '../../i18n/use-sentences.ts';
import { Outcome } from './outcome.tsx';

export interface RequestLineProps {
  readonly row: RequestRow;
  readonly search: SearchTexts;
  /** Whether it is said who served it. */
  readonly isShared: boolean;
  readonly tabIndex: 0 | -1;
}

export const RequestLine = memo(function RequestLine(props: RequestLineProps) {
  const { row, search, isShared, tabIndex } = props;
  const { t } = useTranslation();
  const say = useFaults(row.error !== undefined);
  const format = useFormat();
  const clock = useClock();
  const { model, account, totalMs, outcome, error } = row;
  const target = row.upstreamModel ?? row.routedModel;
  return (
    <Link
      to="/requests"
      search={() => ({ ...search, id: row.id })}
      state={openedOver(search)}
      resetScroll={false}
      tabIndex={tabIndex}
      className={`request-line${search.id === row.id ? ' is-open' : ''}`}
    >
      <time
        className="request-when mono"
        dateTime={new Date(row.at).toISOString()}
        title={format.absolute(row.at)}
      >
        {clock.time(row.at)}
      </time>
      <span className="request-status">
        <Outcome row={row} />
      </span>
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
      <span className="request-protocol dimmed">{row.protocol}</span>
      <span className="request-account one-line dimmed" title={account}>
        {account ?? <span className="is-nobody">–</span>}
      </span>
      {isShared && (
        <span className="request-replica one-line dimmed" title={row.replica}>
          {row.replica ?? '–'}
        </span>
      )}
      <span className="request-tokens dimmed">
        <RequestTokens row={row} />
      </span>
      <span className="request-time">{format.duration(totalMs)}</span>
      {error !== undefined && (
        <span className={`request-error one-line is-${outcome}`}>{say(error)}</span>
      )}
    </Link>
  );
});

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
