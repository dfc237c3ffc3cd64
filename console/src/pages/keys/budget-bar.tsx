// How much of one budget is used, with when it begins anew.

import { useTranslation } from 'react-i18next';
import type { Budget } from '../../../../src/admin/contract.ts';
import { Meter, type Tone } from '../../components/meter.tsx';
import { useNow } from '../../components/now.tsx';
import { useFormat } from '../../components/use-format.ts';
import { sayAmount, usedPercent } from './budget-values.ts';

const TONES: Readonly<Record<Budget['level'], Tone>> = { ok: 'ok', warning: 'warn', spent: 'bad' };

export function BudgetBar({ budget }: { readonly budget: Budget }) {
  const { t } = useTranslation();
  const format = useFormat();
  const now = useNow();
  const { amount, used, period, level, until, reserved } = budget;
  const words = { t, format };
  const label = t('budgets.usedOf', {
    used: sayAmount(budget, used, words),
    amount: sayAmount(budget, amount, words),
    period: t(`budgets.periods.${period}`),
  });
  return (
    <div className="budget-bar">
      <span className="wrap-anywhere">{label}</span>
      <Meter percent={usedPercent(budget)} label={label} tone={TONES[level]} />
      <span className="sub-line" title={format.absolute(until)}>
        {t('budgets.renews', { time: format.relative(until, now) })}
        {reserved > 0 &&
          ` · ${t('budgets.reserved', { amount: sayAmount(budget, reserved, words) })}`}
      </span>
    </div>
  );
}
