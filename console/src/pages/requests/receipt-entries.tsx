// What of a request could not be kept as it was.

import { IconReceipt } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ReceiptLine, RequestDetail } from '../../../../src/admin/contract.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import type { Tone } from '../../components/meter.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';

const TONES: Readonly<Record<ReceiptLine['action'], Tone>> = {
  dropped: 'bad',
  approximated: 'warn',
  capped: 'warn',
  repaired: 'idle',
};

export function ReceiptEntries({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const say = useSentences();
  const { receiptEntries: entries } = detail;
  const wasSent = detail.attempts > 0;
  if (entries.length === 0) {
    return (
      <EmptyNote
        icon={<IconReceipt size={32} stroke={1.5} />}
        title={t(wasSent ? 'requests.noReceipt' : 'requests.nothingSent')}
        hint={t(wasSent ? 'requests.noReceiptHint' : 'requests.nothingSentHint')}
      />
    );
  }
  return (
    <ul className="receipt">
      {entries.map(({ action, path, reason }) => (
        <li key={`${action} ${path} ${reason}`}>
          <StatusMark tone={TONES[action]}>{t(`requests.receiptActions.${action}`)}</StatusMark>
          <div>
            <code className="mono wrap-anywhere">{path}</code>
            <span className="sub-line wrap-anywhere">{say(reason)}</span>
          </div>
        </li>
      ))}
    </ul>
  );
}
