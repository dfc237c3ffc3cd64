// Who was turned away, and who signed in.

import { Modal, Select } from '@mantine/core';
import { IconBan, IconDoorEnter } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AccessEntry } from '../../../../src/admin/contract.ts';
import { accessLogQuery } from '../../api/queries/address-rules.ts';
import { EmptyNote } from '../../components/empty-note.tsx';
import type { Tone } from '../../components/meter.tsx';
import { Panel } from '../../components/panel.tsx';
import { Restricted } from '../../components/restricted.tsx';
import { StackingTable } from '../../components/stacking-table.tsx';
import { StatusMark } from '../../components/status-mark.tsx';
import { useCloseGuard } from '../../components/use-unsaved.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';
import { EntryPages, EntryRow } from './entry-pages.tsx';
import { RuleForm } from './rule-form.tsx';

type Verdict = AccessEntry['verdict'];

const TONES: Readonly<Record<Verdict, Tone>> = {
  blocked: 'bad',
  unauthenticated: 'warn',
  rejected: 'warn',
  throttled: 'bad',
  'signed-in': 'ok',
};

const VERDICTS: readonly Verdict[] = [
  ...(['blocked', 'unauthenticated', 'rejected', 'throttled', 'signed-in'] as const),
];

export function AccessLogPanel() {
  const { t } = useTranslation();
  const [verdict, setVerdict] = useState<Verdict>();
  const [denied, setDenied] = useState<string>();
  const close = (): void => setDenied(undefined);
  const guarded = useCloseGuard(close);
  const query = useInfiniteQuery(accessLogQuery(verdict));
  return (
    <Panel
      isFlush
      title={t('security.logTitle')}
      hint={t('security.logHint')}
      actions={
        <Select
          aria-label={t('security.verdict')}
          placeholder={t('security.anyVerdict')}
          data={VERDICTS.map((value) => ({ value, label: t(`security.verdicts.${value}`) }))}
          value={verdict ?? null}
          onChange={(value) => setVerdict(VERDICTS.find((one) => one === value))}
          clearable
        />
      }
    >
      <EntryPages
        query={query}
        empty={
          <EmptyNote
            icon={<IconDoorEnter size={32} stroke={1.5} />}
            title={t('security.logEmpty')}
            hint={t('security.logEmptyHint')}
          />
        }
      >
        {(entries) => (
          <Restricted least="operator" isQuiet>
            <AccessTable entries={entries} onDeny={setDenied} />
          </Restricted>
        )}
      </EntryPages>
      <Modal opened={denied !== undefined} onClose={guarded.close} title={t('security.ruleTitle')}>
        {denied !== undefined &&
          guarded.guard(<RuleForm edited={undefined} range={denied} onClose={close} />)}
      </Modal>
    </Panel>
  );
}

interface AccessTableProps {
  readonly entries: readonly AccessEntry[];
  readonly onDeny: (address: string) => void;
}

function AccessTable({ entries, onDeny }: AccessTableProps) {
  const { t } = useTranslation();
  return (
    <StackingTable
      headings={[
        t('security.verdict'),
        t('security.when'),
        t('security.address'),
        t('security.asked'),
        t('security.reason'),
      ]}
    >
      {entries.map((entry) => (
        <AccessRow key={entry.id} entry={entry} onDeny={onDeny} />
      ))}
    </StackingTable>
  );
}

interface AccessRowProps {
  readonly entry: AccessEntry;
  readonly onDeny: (address: string) => void;
}

function AccessRow({ entry, onDeny }: AccessRowProps) {
  const { t } = useTranslation();
  const say = useSentences();
  const { verdict, address, at, method, path, reason } = entry;
  return (
    <EntryRow
      lead={<StatusMark tone={TONES[verdict]}>{t(`security.verdicts.${verdict}`)}</StatusMark>}
      at={at}
      address={address}
      target={`${method} ${path}`}
      said={say(reason)}
      action={
        verdict !== 'signed-in' &&
        verdict !== 'blocked' && {
          label: t('security.denyThis', { address }),
          icon: <IconBan size={16} />,
          onClick: () => onDeny(address),
        }
      }
    />
  );
}
