// One request in full; the page's address names it and the part that is open.

import { ActionIcon, Tabs, Tooltip } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconFileUnknown,
  IconMessageCode,
  IconReceipt,
  IconTerminal2,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReceiptLine, RequestDetail } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../api/client.ts';
import { requestQuery } from '../../api/queries/requests.ts';
import { CopyIcon } from '../../components/copy-button.tsx';
import { EmptyNote } from '../../components/empty-note.tsx';
import type { Tone } from '../../components/meter.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useActiveInView } from '../../components/use-active-in-view.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useSentences } from '../../i18n/use-sentences.ts';
import { Attempts } from './attempts.tsx';
import { Bodies } from './bodies.tsx';
import { Outcome } from './outcome.tsx';
import { ReplayForm } from './replay-form.tsx';
import { Summary } from './summary.tsx';
import type { Neighbours } from './use-neighbours.ts';
import { writeCurl } from './write-curl.ts';
import '../../components/form.css';
import './request-view.css';

export interface RequestViewProps {
  readonly id: string;
  readonly neighbours: Neighbours;
  /** Behind the other actions. */
  readonly actions?: ReactNode;
}

export function RequestView({ id, neighbours, actions }: RequestViewProps) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(requestQuery(id));
  return (
    <>
      <div className="detail-bar">
        {data !== undefined && (
          <>
            <Outcome row={data} />
            <h2 className="detail-model wrap-anywhere">
              {data.model === '' ? data.path : data.model}
            </h2>
          </>
        )}
        <div className="detail-actions">
          {data !== undefined && <DetailActions detail={data} />}
          <StepButtons neighbours={neighbours} />
          {actions}
        </div>
      </div>
      {data !== undefined && <RequestTabs detail={data} />}
      {data === undefined && isGone(error) && (
        <EmptyNote
          icon={<IconFileUnknown size={32} stroke={1.5} />}
          title={t('requests.notFound')}
          hint={t('requests.notFoundHint')}
        />
      )}
      {data === undefined && !isGone(error) && (
        <NotLoaded isMain error={error} onRetry={() => void refetch()} height={400} />
      )}
    </>
  );
}

function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

function StepButtons({ neighbours: { newer, older, open } }: { readonly neighbours: Neighbours }) {
  const { t } = useTranslation();
  return (
    <>
      <Tooltip label={t('requests.newerHint')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('requests.newer')}
          disabled={newer === undefined}
          onClick={() => newer !== undefined && open(newer)}
        >
          <IconArrowUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('requests.olderHint')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('requests.older')}
          disabled={older === undefined}
          onClick={() => older !== undefined && open(older)}
        >
          <IconArrowDown size={18} />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

function DetailActions({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const command = writeCurl(detail, window.location.origin);
  const mayTry = detail.replay === 'possible';
  return (
    <>
      {command !== undefined && (
        <CopyIcon
          text={command}
          label={t('requests.copyCurl')}
          icon={<IconTerminal2 size={18} />}
          size="md"
        />
      )}
      {mayTry && (
        <Tooltip label={t('requests.openInPlayground')}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('requests.openInPlayground')}
            renderRoot={(props) => (
              <Link {...props} to="/playground" search={{ request: detail.id }} target="_blank" />
            )}
          >
            <IconMessageCode size={18} />
          </ActionIcon>
        </Tooltip>
      )}
    </>
  );
}

const TABS = ['summary', 'attempts', 'receipt', 'bodies', 'replay'] as const;

function RequestTabs({ detail }: { readonly detail: RequestDetail }) {
  const { t } = useTranslation();
  const { texts, adjust } = useSearchTexts();
  const tab = TABS.find((one) => one === texts.tab) ?? 'summary';
  const row = useActiveInView<HTMLDivElement>(tab);
  const counts = { attempts: detail.attemptsList.length, receipt: detail.receiptEntries.length };
  return (
    <Tabs
      value={tab}
      onChange={(next) => adjust({ tab: next === 'summary' ? undefined : (next ?? undefined) })}
      keepMounted={false}
    >
      <Tabs.List ref={row} className="detail-tabs">
        {TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {t(`requests.tabs.${name}`)}
            {(name === 'attempts' || name === 'receipt') && (
              <span className="detail-count">{counts[name]}</span>
            )}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="summary" pt="md">
        <Summary detail={detail} />
      </Tabs.Panel>
      <Tabs.Panel value="attempts" pt="md">
        <Attempts detail={detail} />
      </Tabs.Panel>
      <Tabs.Panel value="receipt" pt="md">
        <ReceiptEntries detail={detail} />
      </Tabs.Panel>
      <Tabs.Panel value="bodies" pt="md">
        <Bodies detail={detail} />
      </Tabs.Panel>
      <Tabs.Panel value="replay" pt="md">
        <Restricted least="operator">
          <ReplayForm key={detail.id} detail={detail} />
        </Restricted>
      </Tabs.Panel>
    </Tabs>
  );
}

const TONES: Readonly<Record<ReceiptLine['action'], Tone>> = {
  dropped: 'bad',
  approximated: 'warn',
  capped: 'warn',
  repaired: 'idle',
};

function ReceiptEntries({ detail }: { readonly detail: RequestDetail }) {
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
