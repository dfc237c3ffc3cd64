// The percentiles of durations and first tokens, and the tokens a second.

import { useTranslation } from 'react-i18next';
import type { LatencyFigures as Figures } from '../../../src/admin/contract.ts';
import { useFormat } from './use-format.ts';
import './latency-figures.css';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** As high while they load as with all of them. */
export function LatencyFigures({ figures }: { readonly figures: Figures | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { duration, firstToken, tokensPerSecond } = figures ?? {};
  const count = duration?.count ?? 0;
  const rows = [
    { name: t('common.duration'), values: duration },
    { name: t('common.firstToken'), values: firstToken },
  ];
  return (
    <table className="latency-figures">
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{t('common.latency')}</span>
          </th>
          {PERCENTILES.map((name) => (
            <th key={name} scope="col" className="numeric">
              {t(`common.percentiles.${name}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {PERCENTILES.map((one) => (
              <td key={one} className="numeric">
                {values === undefined ? '–' : format.duration(values[one])}
              </td>
            ))}
          </tr>
        ))}
        <tr>
          <th scope="row">{t('common.tokensPerSecond')}</th>
          <td className="numeric">
            {tokensPerSecond === undefined ? '–' : format.number(tokensPerSecond)}
          </td>
          <td colSpan={2} className="numeric dimmed">
            {figures !== undefined && t('common.timed', { count, formatted: format.number(count) })}
          </td>
        </tr>
      </tbody>
    </table>
  );
}
