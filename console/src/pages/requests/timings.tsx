// Where the time of a request went, as a bar.

import { useTranslation } from 'react-i18next';
import type { RequestDetail } from '../../../../src/admin/contract.ts';
import { useFormat } from '../../components/use-format.ts';

export function Timings({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { totalMs, timings, stream, firstEventMs } = detail;
  // A request that failed before has no first token, and a whole answer comes with all of them.
  const hasFirst = stream && firstEventMs !== undefined;
  const firstMs = Math.min(firstEventMs ?? 0, totalMs);
  const restMs = totalMs - firstMs;
  const first = format.duration(firstMs);
  const rest = format.duration(restMs);
  const share = totalMs === 0 ? 100 : (firstMs / totalMs) * 100;
  return (
    <div className="timings">
      <div className="timings-total">
        <span>{t('requests.timings')}</span>
        <strong>{format.duration(totalMs)}</strong>
      </div>
      {hasFirst && (
        <div
          className="timings-bar"
          role="img"
          aria-label={t('requests.timingsLabel', { first, rest })}
        >
          <span className="is-first" style={{ inlineSize: `${share}%` }} />
          <span className="is-rest" style={{ inlineSize: `${100 - share}%` }} />
        </div>
      )}
      <ul className="timings-legend">
        {hasFirst && (
          <li className="is-first">
            {t('requests.firstEvent')} <strong>{first}</strong>
          </li>
        )}
        {hasFirst && restMs > 0 && (
          <li className="is-rest">
            {t('requests.rest')} <strong>{rest}</strong>
          </li>
        )}
        {timings.upstreamMs !== undefined && (
          <li className="is-bare">
            {t('requests.upstream')} <strong>{format.duration(timings.upstreamMs)}</strong>
          </li>
        )}
      </ul>
    </div>
  );
}
