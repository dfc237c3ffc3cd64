// The list of accounts with its search, its two views and the selection.

import { Button, CloseButton, SegmentedControl, TextInput } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useCallback, useDeferredValue, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { type BulkKind, useBulkAction } from '../../api/queries/accounts.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { MoreRows } from '../../components/more-rows.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useAddressText } from '../../components/use-address-text.ts';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useErrorText } from '../../components/use-error-text.ts';
import { useFormat } from '../../components/use-format.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { AccountCard } from './account-card.tsx';
import { AccountTable } from './account-table.tsx';
import { conditionOf, filterAccounts, SHOWN, type Shown } from './condition.ts';
import type { AccountWork } from './use-account-work.tsx';
import { useOrder } from './use-order.ts';
import '../../components/toolbar.css';

export interface AccountBrowserProps {
  readonly accounts: readonly Account[];
  readonly work: AccountWork;
  readonly onOpen: (account: Account) => void;
  readonly onSignIn: (account: Account) => void;
  readonly onExport: (ids: readonly string[]) => void;
}

type View = 'cards' | 'table';

export function AccountBrowser({
  accounts: known,
  work,
  onOpen,
  onSignIn,
  onExport,
}: AccountBrowserProps) {
  const { t } = useTranslation();
  const { texts, adjust } = useSearchTexts();
  const { show } = texts;
  const [search, setSearch] = useAddressText('q');
  const shown: Shown = SHOWN.find((one) => one === show) ?? 'all';
  const [view, setView] = useLocalStorage<View>({
    key: 'isthmus-accounts-view',
    defaultValue: 'cards',
    getInitialValueInEffect: false,
  });
  const isNarrow = useMediaQuery('(max-width: 75em)', false, { getInitialValueInEffect: false });
  const order = useOrder(known);
  const { accounts, move } = order;
  const sought = useDeferredValue(search);
  const found = useMemo(
    () => filterAccounts(accounts, { shown, search: sought }),
    [accounts, shown, sought],
  );
  const selection = useSelection(found);
  const canOrder = shown === 'all' && sought === '';
  const step = useCallback(
    (account: Account, to: 'up' | 'down' | 'top'): void => {
      const place = accounts.indexOf(account);
      move(account, to === 'top' ? 0 : place + (to === 'up' ? -1 : 1));
    },
    [accounts, move],
  );
  const item = {
    work,
    onOpen,
    onSignIn,
    onSelect: selection.select,
    onMove: canOrder ? step : undefined,
  };
  return (
    <>
      <Toolbar
        accounts={accounts}
        shown={shown}
        search={search}
        view={view}
        onShow={(show) => adjust({ show })}
        onSearch={setSearch}
        onView={setView}
      />
      <p className="visually-hidden" role="status">
        {order.spoken}
      </p>
      {found.length === 0 ? (
        <Panel>
          <EmptyNote
            icon={<IconSearch size={28} />}
            title={t('accounts.nothingFound')}
            hint={t('accounts.nothingFoundHint')}
            action={
              <Button
                variant="default"
                onClick={() => {
                  adjust({ show: '' });
                  setSearch('');
                }}
              >
                {t('accounts.showAll')}
              </Button>
            }
          />
        </Panel>
      ) : (
        <MoreRows rows={found} resetKey={`${shown} ${sought}`}>
          {(rows) =>
            view === 'table' && !isNarrow ? (
              <AccountTable
                {...item}
                accounts={rows}
                selected={selection.ids}
                onSelectAll={selection.selectAll}
                onPlace={canOrder ? move : undefined}
              />
            ) : (
              <ul className="account-cards">
                {rows.map((account) => (
                  <AccountCard
                    key={account.id}
                    {...item}
                    account={account}
                    isSelected={selection.ids.has(account.id)}
                  />
                ))}
              </ul>
            )
          }
        </MoreRows>
      )}
      {selection.ids.size > 0 && (
        <BulkBar
          ids={[...selection.ids]}
          onClear={() => selection.selectAll(false)}
          onExport={() => onExport([...selection.ids])}
        />
      )}
    </>
  );
}

interface ToolbarProps {
  readonly accounts: readonly Account[];
  readonly shown: Shown;
  readonly search: string;
  readonly view: View;
  readonly onShow: (show: string) => void;
  readonly onSearch: (search: string) => void;
  readonly onView: (view: View) => void;
}

const SHOWN_TEXTS = {
  all: 'accounts.filterAll',
  usable: 'accounts.filterUsable',
  untried: 'accounts.states.untried',
  failing: 'accounts.states.failing',
  resting: 'accounts.filterResting',
  off: 'accounts.filterOff',
} as const;

function Toolbar({ accounts, shown, search, view, onShow, onSearch, onView }: ToolbarProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const count = (one: Shown): number =>
    one === 'all'
      ? accounts.length
      : accounts.filter((account) => conditionOf(account) === one).length;
  return (
    <div className="toolbar">
      <TextInput
        className="toolbar-search"
        type="search"
        data-page-search
        aria-label={t('accounts.searchLabel')}
        placeholder={t('accounts.searchHint')}
        leftSection={<IconSearch size={16} />}
        value={search}
        onChange={(event) => onSearch(event.currentTarget.value)}
      />
      <SegmentedControl
        aria-label={t('accounts.filter')}
        value={shown}
        onChange={(value) => onShow(value === 'all' ? '' : value)}
        data={SHOWN.map((value) => ({
          value,
          label: `${t(SHOWN_TEXTS[value])} ${format.number(count(value))}`,
        }))}
      />
      <SegmentedControl<View>
        className="toolbar-view"
        aria-label={t('accounts.view')}
        value={view}
        onChange={onView}
        data={[
          { value: 'cards', label: t('accounts.cards') },
          { value: 'table', label: t('accounts.table') },
        ]}
      />
    </div>
  );
}

interface BulkBarProps {
  readonly ids: readonly string[];
  readonly onClear: () => void;
  readonly onExport: () => void;
}

function BulkBar({ ids, onClear, onExport }: BulkBarProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const bulk = useBulkAction();
  const errorText = useErrorText();
  const run = (kind: BulkKind): void =>
    void bulk.mutateAsync({ kind, ids }).then(({ done, failures }) => {
      const [first] = failures;
      if (done > 0) toasts.done(t('accounts.bulkDone', { count: done }));
      if (first === undefined) return;
      const message = errorText(first.error);
      toasts.warn(t('accounts.bulkFailed', { count: failures.length, message }));
    }, toasts.failed);
  const remove = (): void =>
    confirm({
      title: t('accounts.removeMany', { count: ids.length }),
      body: t('accounts.removeHint'),
      confirm: t('common.remove'),
      onConfirm: () => run('remove'),
    });
  const isBusy = (kind: BulkKind): boolean => bulk.isPending && bulk.variables.kind === kind;
  return (
    <Restricted least="operator" isQuiet>
      <section className="bulk-bar" aria-label={t('accounts.selected', { count: ids.length })}>
        <strong>{t('accounts.selected', { count: ids.length })}</strong>
        {(['enable', 'disable', 'refresh'] as const).map((kind) => (
          <Button
            key={kind}
            size="xs"
            variant="default"
            loading={isBusy(kind)}
            disabled={bulk.isPending}
            onClick={() => run(kind)}
          >
            {t(kind === 'refresh' ? 'accounts.refreshShort' : `accounts.${kind}`)}
          </Button>
        ))}
        <Button size="xs" variant="default" onClick={onExport}>
          {t('accounts.exportAll')}
        </Button>
        <Button
          size="xs"
          color="red"
          variant="light"
          loading={isBusy('remove')}
          disabled={bulk.isPending}
          onClick={remove}
        >
          {t('common.remove')}
        </Button>
        <CloseButton aria-label={t('common.clear')} onClick={onClear} />
      </section>
    </Restricted>
  );
}

interface Selection {
  /** In the order of the list; what is not shown is not selected. */
  readonly ids: ReadonlySet<string>;
  select(id: string, isSelected: boolean): void;
  selectAll(isSelected: boolean): void;
}

function useSelection(shown: readonly Account[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(
    () => new Set(shown.map(({ id }) => id).filter((id) => chosen.has(id))),
    [shown, chosen],
  );
  const select = useCallback(
    (id: string, isSelected: boolean): void =>
      setChosen((before) => {
        const after = new Set(before);
        if (isSelected) after.add(id);
        else after.delete(id);
        return after;
      }),
    [],
  );
  return {
    ids,
    select,
    selectAll: (isSelected) => setChosen(new Set(isSelected ? shown.map(({ id }) => id) : [])),
  };
}
