// The entries of a log, page after page, the latest first, and a row of them.

import { ActionIcon, Button, Tooltip } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { RelativeTime } from '../../components/times.tsx';

interface EntryPagesProps<Entry> {
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly entries: readonly Entry[] }>>;
  /** In place of a table without rows. */
  readonly empty: ReactNode;
  readonly children: (entries: readonly Entry[]) => ReactNode;
}

export function EntryPages<Entry>({ query, empty, children }: EntryPagesProps<Entry>) {
  const { t } = useTranslation();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const entries = data?.pages.flatMap((page) => page.entries);
  if (entries === undefined)
    return <NotLoaded error={error} onRetry={() => void refetch()} height={200} />;
  return (
    <>
      {entries.length === 0 ? empty : children(entries)}
      {hasNextPage && (
        <div className="more-rows">
          <Button
            variant="default"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {t('security.showMore')}
          </Button>
        </div>
      )}
    </>
  );
}

interface EntryRowProps {
  readonly lead: ReactNode;
  readonly at: number;
  readonly address: string | undefined;
  /** What was asked or changed. */
  readonly target: ReactNode;
  readonly said: ReactNode;
  readonly action:
    | { readonly label: string; readonly icon: ReactNode; readonly onClick: () => void }
    | false;
}

export function EntryRow({ lead, at, address, target, said, action }: EntryRowProps) {
  return (
    <tr>
      <td className="is-lead">{lead}</td>
      <td className="dimmed access-when">
        <RelativeTime at={at} />
      </td>
      <td className="mono">
        <span className="access-address wrap-anywhere">{address}</span>
      </td>
      <td className="mono">
        <span className="access-path wrap-anywhere">{target}</span>
      </td>
      <td className="dimmed wrap-anywhere">{said}</td>
      <td className="is-corner">
        {action && (
          <Tooltip label={action.label}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={action.label}
              onClick={action.onClick}
            >
              {action.icon}
            </ActionIcon>
          </Tooltip>
        )}
      </td>
    </tr>
  );
}
