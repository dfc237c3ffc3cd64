// The first words of the overview: how it goes, and what of the last minutes and hour belongs to that.

import type { TFunction } from 'i18next';
import type { Overview } from '../../../../src/admin/contract.ts';

type Said = Pick<Overview, 'status' | 'attention' | 'series' | 'isSandbox'>;

const RECENT_MINUTES = 5;
const FAILING: ReadonlySet<string> = new Set([
  'no-accounts',
  'no-usable-account',
  'many-errors',
  'all-refused',
]);

/** Whoever reads that all is well finds no failure below it. */
export function sayHeadline({ status, attention, series }: Said, t: TFunction): string {
  if (status === 'ok' && sumErrors(series.slice(-RECENT_MINUTES)).count > 0) {
    return t('overview.served');
  }
  if (status === 'attention') {
    return t('overview.attention', { count: wanting(attention).length });
  }
  const isOpen = attention.some(({ kind }) => kind === 'open-to-all');
  const isFailing = attention.some(
    ({ kind, severity }) => FAILING.has(kind) && severity === 'error',
  );
  // An open door is trouble too, but none that a client would notice.
  if (isOpen && !isFailing) return t('overview.exposed');
  // Where nobody has asked yet, nothing has failed.
  const hasFailed = sumErrors(series).count > 0;
  return t(status === 'trouble' && !hasFailed ? 'overview.unserved' : `overview.${status}`);
}

/** Failures that are few, or over, are told in a quiet line. */
export function sayHint({ status, attention, isSandbox, series }: Said, t: TFunction): string {
  const recent = sumErrors(series.slice(-RECENT_MINUTES));
  const lastHour = sumErrors(series);
  if (status !== 'trouble' && recent.count > 0) return t('overview.errorsHint', recent);
  if (status === 'ok' && lastHour.count > 0) return t('overview.pastErrorsHint', lastHour);
  if (status === 'attention') {
    // What is beyond a budget is not served.
    if (attention.some(({ kind }) => kind === 'budget-spent')) return t('overview.troubleHint');
    return t('overview.attentionHint', { count: wanting(attention).length });
  }
  return t(isSandbox && status === 'ok' ? 'overview.sandboxHint' : `overview.${status}Hint`);
}

/** A note, such as that of the sandbox, wants nothing. */
function wanting(attention: Said['attention']): Said['attention'] {
  return attention.filter(({ severity }) => severity !== 'info');
}

function sumErrors(minutes: Overview['series']) {
  return {
    count: minutes.reduce((sum, { errors }) => sum + errors, 0),
    total: minutes.reduce((sum, { requests }) => sum + requests, 0),
  };
}
