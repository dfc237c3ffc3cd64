// How the attempts on an account ended in the last 24 hours, half hour by half hour.

import { useTranslation } from 'react-i18next';
import type { AccountOutcomes } from '../../../src/admin/contract.ts';
import { useFormat } from './use-format.ts';
import './outcome-strip.css';

interface OutcomeStripProps {
  /** Absent where there was no attempt. */
  readonly outcomes: AccountOutcomes | undefined;
  readonly from: number;
  readonly stepMs: number;
}

const HEIGHT = 20;
const WIDTH = 5;

export function OutcomeStrip({ outcomes, from, stepMs }: OutcomeStripProps) {
  const { t } = useTranslation();
  const format = useFormat();
  if (outcomes === undefined) {
    return <span className="dimmed small">{t('accounts.noAttempts')}</span>;
  }
  const { good, failed } = outcomes;
  const [goods, failures] = [sum(good), sum(failed)];
  const share = format.percent((goods / (goods + failures)) * 100);
  return (
    <div className="outcome-strip">
      <svg
        viewBox={`0 0 ${good.length * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('accounts.stripLabel', {
          good: format.number(goods),
          failed: format.number(failures),
        })}
      >
        {good.map((ok, index) => {
          const bad = failed[index] ?? 0;
          const at = from + index * stepMs;
          const badHeight = ok + bad === 0 ? 0 : Math.ceil((HEIGHT * bad) / (ok + bad));
          const place = { x: index * WIDTH, width: WIDTH - 1 };
          return (
            <g key={at}>
              <title>
                {t('accounts.stripPart', {
                  time: format.clock(at),
                  good: format.number(ok),
                  failed: format.number(bad),
                })}
              </title>
              <rect
                {...place}
                className={ok + bad === 0 ? 'is-none' : 'is-good'}
                height={HEIGHT - badHeight}
              />
              <rect {...place} className="is-failed" y={HEIGHT - badHeight} height={badHeight} />
            </g>
          );
        })}
      </svg>
      <span className="strip-share">{t('accounts.succeeded', { share })}</span>
    </div>
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0);
}
