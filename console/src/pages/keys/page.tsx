// The keys of people and programs: the list, making one, changing one, taking one back.

import { Button, Drawer, Skeleton } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CreatedKey as Created, Key } from '../../../../src/admin/contract.ts';
import { keysQuery, useChangeKey, useCreateKey } from '../../api/queries/keys.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { CreatedKey } from './created-key.tsx';
import { KeyForm } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';
import { writeNewKey } from './key-values.ts';
import { useKeyRemoval } from './use-key-removal.tsx';
import './page.css';

export function KeysPage() {
  const { t } = useTranslation();
  const { data } = useQuery(keysQuery);
  const { texts, open, close } = useSearchTexts();
  const [isNew, setNew] = useState(false);
  const [created, setCreated] = useState<Created>();
  const asked = data === undefined ? undefined : texts.id;
  const opened = data?.keys.find(({ id }) => id === asked);
  const closeNew = (): void => setNew(false);
  const closeOpened = (): void => close({ id: undefined });
  const guarded = useCloseGuard(isNew ? closeNew : closeOpened);
  const createButton = useRef<HTMLButtonElement>(null);
  const create = (ref?: RefObject<HTMLButtonElement | null>) => (
    <Button
      {...(ref === undefined ? {} : { ref })}
      leftSection={<IconPlus size={16} />}
      onClick={() => setNew(true)}
    >
      {t('keys.create')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('shell.pages.keys')}
        subtitle={t('keys.subtitle')}
        actions={create(createButton)}
      />
      <KeyList create={create()} onEdit={({ id }) => open({ id })} />
      <Drawer
        opened={isNew || asked !== undefined}
        onClose={guarded.close}
        position="right"
        size="lg"
        title={
          opened === undefined
            ? t(isNew ? 'keys.createTitle' : 'keys.one')
            : t('keys.editTitle', { name: opened.name })
        }
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {isNew &&
          guarded.guard(
            <NewKey
              onCancel={closeNew}
              onCreated={(made, isOpen) => {
                if (isOpen) closeNew();
                setCreated(made);
              }}
            />,
          )}
        {!isNew &&
          opened !== undefined &&
          guarded.guard(<ChangedKey key={opened.id} edited={opened} onClose={closeOpened} />)}
        {!isNew && asked !== undefined && opened === undefined && (
          <EmptyNote
            icon={<IconKey size={32} stroke={1.5} />}
            title={t('keys.notThere')}
            hint={t('keys.notThereHint')}
          />
        )}
      </Drawer>
      {created !== undefined && (
        <CreatedKey
          created={created}
          address={window.location.origin}
          onClose={() => {
            setCreated(undefined);
            // What opened the dialog is gone; its page's own button goes on from here.
            createButton.current?.focus();
          }}
        />
      )}
    </>
  );
}

interface KeyListProps {
  readonly create: ReactNode;
  readonly onEdit: (key: Key) => void;
}

function KeyList({ create, onEdit }: KeyListProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(keysQuery);
  const change = useChangeKey();
  const remove = useKeyRemoval();
  const switchKey = (key: Key): void => {
    const { name } = key;
    const enabled = !key.enabled;
    const undo = (changed: Key): void =>
      void change
        .mutateAsync({ key: changed, change: { enabled: !enabled } })
        .then(() => toasts.done(t('common.undone')), toasts.failed);
    void change.mutateAsync({ key, change: { enabled } }).then((changed) => {
      const message = t(enabled ? 'keys.enabledNow' : 'keys.disabledNow', { name });
      toasts.doneWithUndo(message, () => undo(changed));
    }, toasts.failed);
  };
  if (data === undefined) {
    if (error === null) return <Skeleton height={260} />;
    return (
      <ErrorNote error={error} title={t('common.failedToLoad')} onRetry={() => void refetch()} />
    );
  }
  const { keys } = data;
  if (keys.length === 0) {
    return (
      <Panel>
        <EmptyNote
          icon={<IconKey size={32} stroke={1.5} />}
          title={t('keys.empty')}
          hint={t('keys.emptyHint')}
          action={create}
        />
      </Panel>
    );
  }
  return <KeyTable keys={keys} actions={{ onEdit, onSwitch: switchKey, onRemove: remove }} />;
}

interface NewKeyProps {
  readonly onCancel: () => void;
  /** Also when the form was closed meanwhile: the secret is shown once. */
  readonly onCreated: (created: Created, isOpen: boolean) => void;
}

function NewKey({ onCancel, onCreated }: NewKeyProps) {
  const settle = useSettle();
  const create = useCreateKey();
  return (
    <KeyForm
      edited={undefined}
      isSaving={create.isPending}
      error={create.error}
      onCancel={onCancel}
      onSave={(change) =>
        settle(create.mutateAsync(writeNewKey(change, change.name ?? '')), onCreated)
      }
    />
  );
}

interface ChangedKeyProps {
  readonly edited: Key;
  readonly onClose: () => void;
}

function ChangedKey({ edited, onClose }: ChangedKeyProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const change = useChangeKey();
  return (
    <KeyForm
      edited={edited}
      isSaving={change.isPending}
      error={change.error}
      onCancel={onClose}
      onSave={(asked) =>
        settle(change.mutateAsync({ key: edited, change: asked }), ({ name }, isOpen) => {
          if (isOpen) onClose();
          toasts.done(t('keys.saved', { name }));
        })
      }
    />
  );
}
