// The keys of people and programs: the list, making one, changing one, taking one back.

import { Button, Drawer, SegmentedControl } from '@mantine/core';
import { IconKey, IconMailForward, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type {
  CreatedKey as Created,
  CreatedInvitation,
  Key,
} from '../../../../src/admin/contract.ts';
import { keysQuery, useChangeKey, useCreateKey, useRemoveKey } from '../../api/queries/keys.ts';
import { useInviteHolder } from '../../api/queries/people.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { InvitationLink } from '../../components/invitation-link.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { useConfirm } from '../../components/use-confirm.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { BudgetList } from './budget-list.tsx';
import { CreatedKey } from './created-key.tsx';
import { KeyForm } from './key-form.tsx';
import { KeyTable } from './key-table.tsx';
import { writeNewKey } from './key-values.ts';
import { RotateDialog } from './rotate-dialog.tsx';
import './page.css';

export function KeysPage() {
  const { t } = useTranslation();
  const { data } = useQuery(keysQuery);
  const { texts, adjust, open, close } = useSearchTexts();
  const isBudgets = texts.tab === 'budgets';
  const [isNew, setNew] = useState(false);
  const [created, setCreated] = useState<Created>();
  const [rotated, setRotated] = useState<Key>();
  const [isInvitation, setInvitation] = useState(false);
  const [link, setLink] = useState<CreatedInvitation>();
  const asked = data === undefined ? undefined : texts.id;
  const opened = data?.keys.find(({ id }) => id === asked);
  const edit = useCallback(({ id }: Key): void => open({ id }), [open]);
  const closeNew = (): void => setNew(false);
  const closeOpened = (): void => close({ id: undefined });
  const guarded = useCloseGuard(isNew ? closeNew : closeOpened, 'id');
  const createButton = useRef<HTMLButtonElement>(null);
  const create = (ref?: RefObject<HTMLButtonElement | null>) => (
    <Button
      {...(ref === undefined ? {} : { ref })}
      leftSection={<IconPlus size={16} />}
      onClick={() => {
        setInvitation(false);
        setNew(true);
      }}
    >
      {t('keys.create')}
    </Button>
  );
  return (
    <>
      <PageHeader
        title={t('shell.pages.keys')}
        subtitle={t('keys.subtitle')}
        actions={
          <Restricted least="operator" isQuiet>
            <Button
              variant="default"
              leftSection={<IconMailForward size={16} />}
              onClick={() => {
                setInvitation(true);
                setNew(true);
              }}
            >
              {t('keys.invite')}
            </Button>
            {create(createButton)}
          </Restricted>
        }
      />
      <SegmentedControl
        className="keys-tabs"
        aria-label={t('shell.pages.keys')}
        data={(['keys', 'budgets'] as const).map((value) => ({
          value,
          label: t(`budgets.tabs.${value}`),
        }))}
        value={isBudgets ? 'budgets' : 'keys'}
        onChange={(tab) => adjust({ tab: tab === 'keys' ? undefined : tab })}
      />
      {isBudgets ? (
        <Panel>
          <BudgetList />
        </Panel>
      ) : (
        <KeyList
          create={
            <Restricted least="operator" isQuiet>
              {create()}
            </Restricted>
          }
          onEdit={edit}
          onRotate={setRotated}
        />
      )}
      <Drawer
        opened={isNew || asked !== undefined}
        onClose={guarded.close}
        position="right"
        size="lg"
        title={
          opened === undefined
            ? t(isNew ? (isInvitation ? 'keys.inviteTitle' : 'keys.createTitle') : 'keys.one')
            : t('keys.editTitle', { name: opened.name })
        }
      >
        {isNew &&
          isInvitation &&
          guarded.guard(
            <KeyInvitation
              onCancel={closeNew}
              onCreated={(made, isOpen) => {
                if (isOpen) closeNew();
                setLink(made);
              }}
            />,
          )}
        {isNew &&
          !isInvitation &&
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
          guarded.guard(
            <Restricted least="operator">
              <ChangedKey key={opened.id} edited={opened} onClose={guarded.leave} />
            </Restricted>,
          )}
        {!isNew && asked !== undefined && opened === undefined && (
          <EmptyNote
            icon={<IconKey size={32} stroke={1.5} />}
            title={t('keys.notThere')}
            hint={t('keys.notThereHint')}
          />
        )}
      </Drawer>
      {rotated !== undefined && (
        <RotateDialog
          rotated={rotated}
          onClose={() => setRotated(undefined)}
          onRotated={(made) => {
            setRotated(undefined);
            setCreated(made);
          }}
        />
      )}
      {link !== undefined && <InvitationLink created={link} onClose={() => setLink(undefined)} />}
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
  readonly onRotate: (key: Key) => void;
}

function KeyList({ create, onEdit, onRotate }: KeyListProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(keysQuery);
  const { mutateAsync } = useChangeKey();
  const onRemove = useKeyRemoval();
  // Rows that have these are not made anew with their list.
  const actions = useMemo(() => {
    const onSwitch = (key: Key): void => {
      const { name } = key;
      const enabled = !key.enabled;
      const undo = (changed: Key): void =>
        void mutateAsync({ key: changed, change: { enabled: !enabled } }).then(
          () => toasts.done(t('common.undone')),
          toasts.failed,
        );
      void mutateAsync({ key, change: { enabled } }).then((changed) => {
        const message = t(enabled ? 'keys.enabledNow' : 'keys.disabledNow', { name });
        toasts.doneWithUndo(message, () => undo(changed));
      }, toasts.failed);
    };
    return { onEdit, onRotate, onSwitch, onRemove };
  }, [onEdit, onRotate, onRemove, mutateAsync, toasts, t]);
  if (data === undefined)
    return <NotLoaded isMain error={error} onRetry={() => void refetch()} height={260} />;
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
  return <KeyTable keys={keys} actions={actions} />;
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

interface KeyInvitationProps {
  readonly onCancel: () => void;
  /** Also when the form was closed meanwhile: the link is shown once. */
  readonly onCreated: (created: CreatedInvitation, isOpen: boolean) => void;
}

/** Says what a key will be that somebody makes by a link. */
function KeyInvitation({ onCancel, onCreated }: KeyInvitationProps) {
  const settle = useSettle();
  const invite = useInviteHolder();
  return (
    <KeyForm
      edited={undefined}
      isSaving={invite.isPending}
      error={invite.error}
      onCancel={onCancel}
      onSave={(change) =>
        settle(invite.mutateAsync(writeNewKey(change, change.name ?? '')), onCreated)
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

/** Removes keys once a person confirmed it: a removed key cannot be brought back, as nobody knows its secret. */
function useKeyRemoval(): (key: Key) => void {
  const { t } = useTranslation();
  const toasts = useToasts();
  const confirm = useConfirm();
  const { mutateAsync } = useRemoveKey();
  return useCallback(
    ({ id, name }) =>
      confirm({
        title: t('keys.removeTitle', { name }),
        body: t('keys.removeHint'),
        confirm: t('common.remove'),
        onConfirm: () =>
          void mutateAsync(id).then(() => toasts.done(t('keys.removed', { name })), toasts.failed),
      }),
    [t, toasts, confirm, mutateAsync],
  );
}
