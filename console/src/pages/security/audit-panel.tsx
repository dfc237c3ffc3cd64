// Who changed what of the gateway, when and from where.

import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowsDiff, IconDownload, IconHistory } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEntry } from '../../../../src/admin/contract.ts';
import { type AuditFilter, auditQuery, useReadAudit } from '../../api/queries/audit.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { formatJson } from '../../components/format-json.ts';
import { Panel } from '../../components/panel.tsx';
import { saveFile } from '../../components/save-file.ts';
import { StackingTable } from '../../components/stacking-table.tsx';
import { TextView } from '../../components/text-view.tsx';
import { EntryPages, EntryRow } from './entry-pages.tsx';

type Actor = AuditEntry['actor'];

const ACTORS: readonly Actor[] = ['session', 'password', 'machine', 'local', 'visitor', 'file'];
const TYPING_MS = 300;

export function AuditPanel() {
  const { t } = useTranslation();
  const [actor, setActor] = useState<Actor>();
  const [typed, setTyped] = useState('');
  const [about] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [shown, setShown] = useState<AuditEntry>();
  const filter = { actor, about };
  const query = useInfiniteQuery(auditQuery(filter));
  return (
    <Panel
      isFlush
      title={t('security.auditTitle')}
      hint={t('security.auditHint')}
      actions={
        <AuditActions
          actor={actor}
          onActor={setActor}
          typed={typed}
          onType={setTyped}
          filter={filter}
        />
      }
    >
      <EntryPages
        query={query}
        empty={
          <EmptyNote
            icon={<IconHistory size={32} stroke={1.5} />}
            title={t('security.auditEmpty')}
            hint={t('security.auditEmptyHint')}
          />
        }
      >
        {(entries) => <AuditTable entries={entries} onShow={setShown} />}
      </EntryPages>
      <Modal
        size="lg"
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={t('security.changeTitle')}
      >
        {shown !== undefined && <BeforeAndAfter entry={shown} />}
      </Modal>
    </Panel>
  );
}

interface AuditActionsProps {
  readonly actor: Actor | undefined;
  readonly onActor: (actor: Actor | undefined) => void;
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly filter: AuditFilter;
}

function AuditActions({ actor, onActor, typed, onType, filter }: AuditActionsProps) {
  const { t } = useTranslation();
  const all = useReadAudit();
  const save = (): void =>
    all.mutate(filter, {
      onSuccess: (entries) =>
        saveFile('isthmus-audit.json', `${JSON.stringify(entries, null, 2)}\n`),
    });
  return (
    <div className="audit-actions">
      <Select
        aria-label={t('security.actor')}
        placeholder={t('security.anyActor')}
        data={ACTORS.map((value) => ({ value, label: t(`security.actors.${value}`) }))}
        value={actor ?? null}
        onChange={(value) => onActor(ACTORS.find((one) => one === value))}
        clearable
      />
      <TextInput
        aria-label={t('security.about')}
        placeholder={t('security.about')}
        value={typed}
        maxLength={256}
        onChange={(event) => onType(event.currentTarget.value)}
      />
      <Button
        variant="default"
        leftSection={<IconDownload size={16} />}
        loading={all.isPending}
        onClick={save}
      >
        {t('security.exportAudit')}
      </Button>
      {all.error !== null && <ErrorNote error={all.error} onRetry={save} />}
    </div>
  );
}

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly onShow: (entry: AuditEntry) => void;
}

function AuditTable({ entries, onShow }: AuditTableProps) {
  const { t } = useTranslation();
  return (
    <StackingTable
      headings={[
        t('security.actor'),
        t('security.when'),
        t('security.address'),
        t('security.action'),
        t('security.fields'),
      ]}
    >
      {entries.map((entry) => (
        <AuditRow key={entry.id} entry={entry} onShow={onShow} />
      ))}
    </StackingTable>
  );
}

interface AuditRowProps {
  readonly entry: AuditEntry;
  readonly onShow: (entry: AuditEntry) => void;
}

function AuditRow({ entry, onShow }: AuditRowProps) {
  const { t } = useTranslation();
  const { actor, session, person, at, address, action, subject, fields } = entry;
  const [method = ''] = action.split(' ');
  const hasChange = entry.before !== undefined || entry.after !== undefined;
  return (
    <EntryRow
      lead={
        <>
          {person ?? t(`security.actors.${actor}`)}
          {session !== undefined && <span className="mono dimmed"> {session}</span>}
        </>
      }
      at={at}
      address={address}
      target={actor === 'file' ? subject : `${method} ${subject}`}
      said={fields}
      action={
        hasChange && {
          label: t('security.showChange', { subject }),
          icon: <IconArrowsDiff size={16} />,
          onClick: () => onShow(entry),
        }
      }
    />
  );
}

function BeforeAndAfter({ entry }: { readonly entry: AuditEntry }) {
  const { t } = useTranslation();
  return (
    <div className="security-stack">
      {(['before', 'after'] as const).map((side) => {
        const text = entry[side];
        if (text === undefined) return null;
        const label = t(`security.${side}`);
        return (
          <section key={side}>
            <h3 className="audit-side">{label}</h3>
            {/* What was too long is cut, and no JSON any more. */}
            <TextView isPlain label={label} text={formatJson(text)} />
          </section>
        );
      })}
    </div>
  );
}
