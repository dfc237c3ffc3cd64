// How a request ended, in a status and a colour.

import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import type { Tone } from '../../components/meter.tsx';
import { StatusMark } from '../../components/status-mark.tsx';

const TONES: Readonly<Record<RequestRow['outcome'], Tone>> = {
  ok: 'ok',
  error: 'bad',
  cancelled: 'idle',
};

export function Outcome({ row }: { readonly row: Pick<RequestRow, 'outcome' | 'status'> }) {
  const { t } = useTranslation();
  // A stream that broke off has a good status all the same.
  const isBroken = row.outcome === 'error' && row.status < 400;
  return (
    <StatusMark tone={TONES[row.outcome]}>
      {row.status}
      {row.outcome === 'cancelled' && ` ${t('requests.wasCancelled')}`}
      {isBroken && ` ${t('common.brokeOff')}`}
    </StatusMark>
  );
}
