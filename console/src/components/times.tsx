// Times as people read them: how long ago, how long still; the exact time on hover.

import { useTranslation } from 'react-i18next';
import type { Time } from '../../../src/admin/contract.ts';
import { useNow } from './now.tsx';
import { readTime, useFormat } from './use-format.ts';

export function RelativeTime({ at }: { readonly at: Time }) {
  const format = useFormat();
  const now = useNow();
  return (
    <time dateTime={new Date(readTime(at)).toISOString()} title={format.absolute(at)}>
      {format.relative(at, now)}
    </time>
  );
}

/** How long until a quota is full again. */
export function ResetCountdown({ at }: { readonly at: Time }) {
  const { t } = useTranslation();
  const format = useFormat();
  const leftMs = readTime(at) - useNow();
  return (
    <time dateTime={new Date(readTime(at)).toISOString()} title={format.absolute(at)}>
      {leftMs <= 0
        ? t('common.resetsNow')
        : t('common.resetsIn', { time: format.duration(wholeSteps(leftMs)) })}
    </time>
  );
}

/** What is left until a time, as a bare duration. */
export function TimeLeft({ until }: { readonly until: Time }) {
  const format = useFormat();
  const leftMs = Math.max(0, readTime(until) - useNow());
  return (
    <time dateTime={new Date(readTime(until)).toISOString()} title={format.absolute(until)}>
      {format.duration(wholeSteps(leftMs))}
    </time>
  );
}

/** Seconds below ten minutes, minutes above: a figure that races is not read. */
function wholeSteps(ms: number): number {
  const step = ms < 600_000 ? 1000 : 60_000;
  return Math.max(1000, Math.floor(ms / step) * step);
}
