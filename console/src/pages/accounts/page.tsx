// The accounts: their state, their quota, their order, and everything one does to them.

import { Button, Skeleton } from '@mantine/core';
import { IconDownload, IconPlus, IconUpload, IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Account } from '../../../../src/admin/contract.ts';
import { accountsQuery } from '../../api/queries/accounts.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { AccountBrowser } from './account-browser.tsx';
import { AccountDrawer } from './account-drawer.tsx';
import { AddDialog, isWay, type Way } from './add-dialog.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { useAccountWork } from './use-account-work.tsx';
import './page.css';

export function AccountsPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(accountsQuery);
  const { texts, adjust, open, close } = useSearchTexts();
  const [exported, setExported] = useState<readonly string[] | 'all'>();
  const work = useAccountWork();
  const accounts = data?.accounts;
  const opened = accounts?.find(({ id }) => id === texts.id);
  const isNobody = accounts !== undefined && texts.id !== undefined && opened === undefined;
  const isAdding = isWay(texts.add);
  /** Within the dialog, its tabs are no steps of the way back. */
  const add = (way: Way): void => (isAdding ? adjust : open)({ add: way, account: undefined });
  const show = useCallback(({ id }: Account): void => open({ id }), [open]);
  const signInAgain = useCallback(
    ({ id }: Account): void => open({ add: 'sign-in', account: id, id: undefined }),
    [open],
  );
  return (
    <>
      <PageHeader
        title={t('shell.pages.accounts')}
        subtitle={
          accounts === undefined || accounts.length === 0
            ? undefined
            : t('accounts.subtitle', { count: accounts.length })
        }
        actions={
          accounts?.length === 0 ? undefined : (
            <Actions onAdd={add} onExport={() => setExported('all')} />
          )
        }
      />
      {accounts === undefined ? (
        <NotLoaded
          isMain
          error={error}
          onRetry={() => void refetch()}
          outline={<AccountsSkeleton />}
        />
      ) : accounts.length === 0 ? (
        <Restricted least="operator">
          <NoAccounts onAdd={add} />
        </Restricted>
      ) : (
        <AccountBrowser
          accounts={accounts}
          work={work}
          onOpen={show}
          onSignIn={signInAgain}
          onExport={setExported}
        />
      )}
      <AccountDrawer
        account={isNobody ? 'nobody' : opened}
        work={work}
        onSignIn={signInAgain}
        onClose={() => close({ id: undefined })}
      />
      <AddDialog
        way={isWay(texts.add) ? texts.add : undefined}
        again={accounts?.find(({ id }) => id === texts.account)}
        onWay={add}
        onClose={() => close({ add: undefined, account: undefined })}
      />
      <ExportDialog chosen={exported} onClose={() => setExported(undefined)} />
    </>
  );
}

interface ActionsProps {
  readonly onAdd: (way: Way) => void;
  readonly onExport: () => void;
}

function Actions({ onAdd, onExport }: ActionsProps) {
  const { t } = useTranslation();
  return (
    <div className="accounts-actions">
      <Restricted least="operator" isQuiet>
        <Button
          variant="default"
          leftSection={<IconUpload size={16} />}
          onClick={() => onAdd('import')}
        >
          {t('accounts.importMany')}
        </Button>
        <Restricted least="owner" isQuiet>
          <Button variant="default" leftSection={<IconDownload size={16} />} onClick={onExport}>
            {t('accounts.exportAll')}
          </Button>
        </Restricted>
        <Button leftSection={<IconPlus size={16} />} onClick={() => onAdd('key')}>
          {t('accounts.add')}
        </Button>
      </Restricted>
    </div>
  );
}

function NoAccounts({ onAdd }: { readonly onAdd: (way: Way) => void }) {
  const { t } = useTranslation();
  return (
    <Panel>
      <EmptyNote
        icon={<IconUsers size={36} />}
        title={t('account.empty')}
        hint={t('account.emptyHint')}
        action={
          <>
            <Button onClick={() => onAdd('key')}>{t('addAccount.addKey')}</Button>
            <Button variant="default" onClick={() => onAdd('sign-in')}>
              {t('addAccount.bySignIn')}
            </Button>
            <Button variant="default" onClick={() => onAdd('import')}>
              {t('addAccount.byImport')}
            </Button>
          </>
        }
      />
    </Panel>
  );
}

const CARDS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];

function AccountsSkeleton() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t('common.loading')}>
      <Skeleton height={36} mb={16} radius="sm" />
      <div className="account-cards">
        {CARDS.map((card) => (
          <Skeleton key={card} height={232} radius="md" />
        ))}
      </div>
    </div>
  );
}
