// Below an answer: who gave it, how long it took, what it used and cost, and what can be done with it.

import { ActionIcon } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RequestList, RequestRow } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../../api/client.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { Hint } from '../../components/hint.tsx';
import { useFormat } from '../../components/use-format.ts';
import type { Exchange } from '../../wire/send-request.ts';
import { type Said, textOf } from './turns-of.ts';

export interface AnswerFootProps {
  readonly said: Said;
  /** Absent where another answer cannot be asked for. */
  readonly onRegenerate: (() => void) | undefined;
}

export function AnswerFoot({ said, onRegenerate }: AnswerFootProps) {
  const { t } = useTranslation();
  const { model, exchange } = said;
  const text = textOf(said);
  return (
    <footer className="answer-foot">
      {model !== undefined && <span className="mono">{model}</span>}
      {exchange !== undefined && <Figures exchange={exchange} />}
      <span className="answer-actions">
        {text !== '' && <CopyIcon text={text} label={t('playground.copyAnswer')} />}
        {onRegenerate !== undefined && (
          <Hint label={t('playground.regenerate')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t('playground.regenerate')}
              onClick={onRegenerate}
            >
              <IconRefresh size={15} />
            </ActionIcon>
          </Hint>
        )}
      </span>
    </footer>
  );
}

function Figures({ exchange }: { readonly exchange: Exchange }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { data } = useQuery(recordQuery(exchange));
  const { firstByteMs, totalMs = firstByteMs, requestId } = exchange;
  return (
    <>
      {exchange.status < 400 && (
        <span>
          {t('playground.firstToken', { time: format.duration(data?.firstEventMs ?? firstByteMs) })}
        </span>
      )}
      <span>{t('playground.tookTime', { time: format.duration(data?.totalMs ?? totalMs) })}</span>
      {data && <Used record={data} />}
      {requestId !== undefined && (
        <Link to="/requests" search={{ id: requestId }}>
          {t('playground.openRecord')}
        </Link>
      )}
    </>
  );
}

function Used({ record }: { readonly record: RequestRow }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { inputTokens, outputTokens, cachedTokens = 0, costNanos, flatRateNanos } = record;
  const cost = costNanos ?? flatRateNanos;
  return (
    <>
      {inputTokens !== undefined && (
        <span>{t('playground.tokensIn', { tokens: format.number(inputTokens) })}</span>
      )}
      {cachedTokens > 0 && (
        <span>{t('playground.tokensCached', { tokens: format.number(cachedTokens) })}</span>
      )}
      {outputTokens !== undefined && (
        <span>{t('playground.tokensOut', { tokens: format.number(outputTokens) })}</span>
      )}
      {cost !== undefined && (
        <span>
          {t(costNanos === undefined ? 'playground.wouldCost' : 'playground.cost', {
            cost: format.money(cost),
          })}
        </span>
      )}
    </>
  );
}

const LOOKED_AT = 50;

/** Records are written in batches, a moment after the answer: the newest are read until this one is there. */
function recordQuery({ requestId = '', totalMs }: Exchange) {
  return queryOptions({
    // What the live feed makes old with each request.
    queryKey: ['requests', 'of-answer', requestId],
    queryFn: async ({ signal }): Promise<RequestRow | null> => {
      const path = withQuery('/api/requests', { limit: LOOKED_AT });
      const { requests } = await callApi<RequestList>('GET', path, { signal });
      return requests.find((one) => one.requestId === requestId) ?? null;
    },
    enabled: ({ state: { data } }) => requestId !== '' && totalMs !== undefined && !data,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
