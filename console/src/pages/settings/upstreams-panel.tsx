// The upstreams of the config file: the list, adding, changing and removing one.

import { ActionIcon, Button, Drawer } from '@mantine/core';
import { IconCloudOff, IconLock, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { sectionQuery, useChangeSection } from '../../api/queries/config.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { NotLoaded } from '../../components/not-loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { useToasts } from '../../components/use-toasts.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { findOverride, valueAt } from '../../settings/section-values.ts';
import { UpstreamForm } from './upstream-form.tsx';
import { hasClientSecret } from './upstream-values.ts';

const SECTION = 'upstreams';

/** The id of the upstream in the drawer; '' for a new one. */
type Editing = string | undefined;

export function UpstreamsPanel() {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(sectionQuery(SECTION));
  const { mutateAsync } = useChangeSection(SECTION);
  const [editing, setEditing] = useState<Editing>();
  const add = (
    <Button size="xs" leftSection={<IconPlus size={14} />} onClick={() => setEditing('')}>
      {t('settings.upstream.add')}
    </Button>
  );
  const remove = (id: string, entry: unknown): void => {
    // A secret comes back only from whoever knows it; all else does.
    const undone = hasClientSecret(entry) ? 'settings.upstream.undoneButSecret' : 'common.undone';
    const undo = (): void =>
      void mutateAsync({ patch: { [id]: entry }, onlyWhile: { [id]: null } }).then(
        () => toasts.done(t(undone)),
        toasts.failed,
      );
    void mutateAsync({ patch: { [id]: null } }).then(
      () => toasts.doneWithUndo(t('settings.upstream.removed', { id }), undo),
      toasts.failed,
    );
  };
  const close = (): void => setEditing(undefined);
  const guarded = useCloseGuard(close);
  return (
    <Panel
      isFlush
      title={t('settings.groups.upstreams')}
      hint={t('settings.groupHints.upstreams')}
      actions={add}
    >
      {data === undefined && (
        <NotLoaded error={error} onRetry={() => void refetch()} height={120} />
      )}
      {data !== undefined && <UpstreamList section={data} onEdit={setEditing} onRemove={remove} />}
      <Drawer
        opened={editing !== undefined}
        onClose={guarded.close}
        position="right"
        size="lg"
        title={
          editing === '' || editing === undefined
            ? t('settings.upstream.titleNew')
            : t('settings.upstream.titleEdit', { id: editing })
        }
      >
        {editing !== undefined &&
          data !== undefined &&
          guarded.guard(<UpstreamForm id={editing} section={data} onClose={close} />)}
      </Drawer>
    </Panel>
  );
}

interface UpstreamListProps {
  readonly section: ConfigSection;
  readonly onEdit: (id: string) => void;
  readonly onRemove: (id: string, entry: unknown) => void;
}

function UpstreamList({ section, onEdit, onRemove }: UpstreamListProps) {
  const { t } = useTranslation();
  const entries = Object.entries(section.values);
  const elsewhere = listEnvironmentUpstreams(section);
  if (entries.length === 0 && elsewhere.length === 0) {
    return (
      <EmptyNote
        icon={<IconCloudOff size={32} stroke={1.5} />}
        title={t('settings.upstream.empty')}
        hint={t('settings.upstream.emptyHint')}
      />
    );
  }
  return (
    <ul className="upstreams">
      {entries.map(([id, entry]) => (
        <li key={id}>
          <div>
            <strong className="wrap-anywhere">{id}</strong>
            <span className="sub-line wrap-anywhere">
              {[valueAt(entry, ['profile']), valueAt(entry, ['base_url'])]
                .filter((text) => typeof text === 'string')
                .join(' · ')}
            </span>
          </div>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('settings.upstream.edit', { id })}
            onClick={() => onEdit(id)}
          >
            <IconPencil size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={t('settings.upstream.remove', { id })}
            onClick={() => onRemove(id, entry)}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </li>
      ))}
      {elsewhere.map(({ id, name, baseUrl }) => (
        <li key={id}>
          <div>
            <strong className="wrap-anywhere">{id}</strong>
            <span className="sub-line wrap-anywhere">
              {[baseUrl, t('settings.upstream.ofEnvironment', { name })]
                .filter((text) => text !== undefined)
                .join(' · ')}
            </span>
          </div>
          <IconLock size={16} aria-hidden="true" />
        </li>
      ))}
    </ul>
  );
}

interface EnvironmentUpstream {
  readonly id: string;
  /** The variable by which it is there. */
  readonly name: string;
  readonly baseUrl: string | undefined;
}

/** Upstreams that only the environment names. */
function listEnvironmentUpstreams(section: ConfigSection): readonly EnvironmentUpstream[] {
  return Object.entries(section.overrides).flatMap(([path, { name }]) => {
    const [id = '', key] = path.split('.');
    if (key !== 'profile' || Object.hasOwn(section.values, id)) return [];
    const baseUrl = findOverride(section, [id, 'base_url'])?.value;
    return [{ id, name, baseUrl: typeof baseUrl === 'string' ? baseUrl : undefined }];
  });
}
