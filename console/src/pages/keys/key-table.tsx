// The keys in a table, with a search and a choice of order.

import { Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Budget, Key } from '../../../../src/admin/contract.ts';
import { budgetsQuery } from '../../api/queries/budgets.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { MoreRows } from '../../components/more-rows.tsx';
import { Panel } from '../../components/panel.tsx';
import { StackingTable } from '../../components/stacking-table.tsx';
import { useAddressText } from '../../components/use-address-text.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { findKeys, KEY_ORDERS, readOrder } from './find-keys.ts';
import { type KeyActions, KeyRow } from './key-row.tsx';
import '../../components/toolbar.css';

export interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly actions: KeyActions;
}

/** A list that fits on a screen needs no search. */
const FEW = 8;
const NONE: readonly Budget[] = [];

export function KeyTable({ keys, actions }: KeyTableProps) {
  const { t } = useTranslation();
  const { texts, adjust } = useSearchTexts();
  const { sort } = texts;
  const [search, setSearch] = useAddressText('q');
  const sought = useDeferredValue(search);
  const found = useMemo(() => findKeys(keys, { search: sought, sort }), [keys, sought, sort]);
  return (
    <>
      {(keys.length > FEW || search !== '') && (
        <div className="toolbar">
          <TextInput
            className="toolbar-search"
            type="search"
            data-page-search
            aria-label={t('keys.searchLabel')}
            placeholder={t('keys.searchHint')}
            leftSection={<IconSearch size={16} />}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          <Select
            aria-label={t('keys.order')}
            data={KEY_ORDERS.map((value) => ({ value, label: t(`keys.orders.${value}`) }))}
            value={readOrder(sort)}
            onChange={(order) => adjust({ sort: order === 'made' ? '' : (order ?? '') })}
            allowDeselect={false}
          />
        </div>
      )}
      {found.length === 0 ? (
        <Panel>
          <EmptyNote
            icon={<IconSearch size={28} />}
            title={t('keys.noneFound')}
            hint={t('keys.noneFoundHint')}
          />
        </Panel>
      ) : (
        <MoreRows rows={found} resetKey={`${sort} ${sought}`}>
          {(rows) => <Rows keys={rows} actions={actions} />}
        </MoreRows>
      )}
    </>
  );
}

function Rows({ keys, actions }: KeyTableProps) {
  const { t } = useTranslation();
  const { data } = useQuery(budgetsQuery);
  const ofKeys = useMemo(
    () => Map.groupBy(data?.budgets ?? NONE, ({ subject = '' }) => subject),
    [data],
  );
  return (
    <Panel isFlush>
      <StackingTable
        headings={[
          t('keys.name'),
          t('keys.state'),
          t('keys.today'),
          t('keys.limits'),
          t('keys.lastUsed'),
        ]}
      >
        {keys.map((row) => (
          <KeyRow key={row.id} row={row} budgets={ofKeys.get(row.id) ?? NONE} actions={actions} />
        ))}
      </StackingTable>
    </Panel>
  );
}
