// One request in full, beside the list; the page's address names it and the part that is open.

import { Drawer, Skeleton, Tabs } from '@mantine/core';
import { IconFileUnknown } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { RequestDetail } from '../../../../src/admin/contract.ts';
import { ApiError } from '../../api/client.ts';
import { requestQuery } from '../../api/queries/requests.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { useActiveInView } from '../../components/use-active-in-view.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { Attempts } from './attempts.tsx';
import { Bodies } from './bodies.tsx';
import { Outcome } from './outcome.tsx';
import { ReceiptEntries } from './receipt-entries.tsx';
import { ReplayForm } from './replay-form.tsx';
import { Summary } from './summary.tsx';
import '../../components/form.css';
import './request-drawer.css';

export interface RequestDrawerProps {
  /** Undefined while none is open. */
  readonly id: string | undefined;
  readonly onClose: () => void;
}

export function RequestDrawer({ id, onClose }: RequestDrawerProps) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size={860}
      title={t('requests.detailTitle')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {id !== undefined && <RequestView id={id} />}
    </Drawer>
  );
}

function RequestView({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(requestQuery(id));
  if (data !== undefined) return <RequestTabs detail={data} />;
  if (error === null) return <Skeleton height={400} />;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <EmptyNote
        icon={<IconFileUnknown size={32} stroke={1.5} />}
        title={t('requests.notFound')}
        hint={t('requests.notFoundHint')}
      />
    );
  }
  return (
    <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={() => void refetch()} />
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
    <>
      <div className="detail-head">
        <Outcome row={detail} />
        <strong className="wrap-anywhere">
          {detail.model === '' ? detail.path : detail.model}
        </strong>
      </div>
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
          <ReplayForm detail={detail} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
