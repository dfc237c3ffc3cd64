// The editor of the mapping: every change acts at once and can be taken back.

import { ActionIcon, Button, Skeleton, TextInput } from '@mantine/core';
import { IconArrowRight, IconArrowsShuffle, IconPlus, IconX } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { type FormEvent, memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../../components/empty-note.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { MoreRows } from '../../components/more-rows.tsx';
import { Panel } from '../../components/panel.tsx';
import { sayTooLong } from '../../components/say-too-long.ts';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { ModelInput } from './model-input.tsx';
import { useGoesNowhere } from './use-goes-nowhere.ts';
import { type Entry, type Mapping, useMapping } from './use-mapping.ts';

/** The gateway refuses longer names of models. */
const MAX_NAME = 256;

export interface MappingPanelProps {
  readonly decidingKey: string | undefined;
  readonly onTry: (name: string) => void;
}

export function MappingPanel({ decidingKey, onTry }: MappingPanelProps) {
  const { t } = useTranslation();
  const mapping = useMapping();
  const { entries, isLoading, error } = mapping;
  return (
    <Panel isFlush title={t('routing.mapping')} hint={t('routing.mappingHint')}>
      <NewEntry mapping={mapping} />
      {isLoading && <Skeleton height={180} m="md" w="auto" />}
      {error !== null && <ErrorNote error={error} onRetry={mapping.reload} />}
      {!isLoading && error === null && entries.length === 0 && (
        <EmptyNote
          icon={<IconArrowsShuffle size={28} />}
          title={t('routing.empty')}
          hint={t('routing.emptyHint')}
        />
      )}
      <MoreRows rows={entries} resetKey="">
        {(shown) => (
          <ul className="entries">
            {shown.map((entry) => (
              <EntryRow
                key={entry[0]}
                entry={entry}
                onChange={mapping.change}
                isDeciding={entry[0] === decidingKey}
                onTry={onTry}
              />
            ))}
          </ul>
        )}
      </MoreRows>
    </Panel>
  );
}

function NewEntry({ mapping }: { readonly mapping: Mapping }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [target, setTarget] = useState('');
  const [isTried, setTried] = useState(false);
  useUnsaved(name !== '' || target !== '');
  const trimmed = name.trim();
  const isTaken = mapping.entries.some(([known]) => known === trimmed);
  const nameProblem = sayNameProblem(trimmed, isTaken, t);
  const targetProblem = sayTargetProblem(target, t);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (nameProblem !== undefined || targetProblem !== undefined) return;
    const message = t('routing.changed', { name: trimmed, target: target.trim() });
    mapping.change({ [trimmed]: target.trim() }, message, () => {
      setName((now) => now || name);
      setTarget((now) => now || target);
    });
    setName('');
    setTarget('');
    setTried(false);
  };
  return (
    <form className="entry entry-new" onSubmit={submit} aria-label={t('routing.addEntry')}>
      <TextInput
        className="mono-field"
        aria-label={t('routing.addName')}
        placeholder={t('routing.addName')}
        spellCheck={false}
        autoComplete="off"
        value={name}
        error={isTried || trimmed !== '' ? nameProblem : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <IconArrowRight className="entry-arrow" size={16} aria-hidden="true" />
      <ModelInput
        takesTargets
        label={t('routing.addTarget')}
        placeholder={t('routing.addTarget')}
        value={target}
        error={isTried ? targetProblem : undefined}
        onChange={setTarget}
      />
      <Button
        type="submit"
        variant="default"
        // Which names are taken is known once they are read.
        disabled={mapping.isLoading || mapping.error !== null}
        leftSection={<IconPlus size={16} />}
      >
        {t('common.add')}
      </Button>
    </form>
  );
}

function sayNameProblem(name: string, isTaken: boolean, t: TFunction): string | undefined {
  if (name === '') return t('routing.nameMissing');
  return isTaken ? t('routing.nameTaken') : sayTooLong(name, MAX_NAME, t);
}

/** Undefined for what can be the name of one model. */
function sayTargetProblem(target: string, t: TFunction): string | undefined {
  if (target.trim() === '') return t('routing.targetMissing');
  if (target.includes('*')) return t('routing.targetPattern');
  return sayTooLong(target.trim(), MAX_NAME, t);
}

interface EntryRowProps {
  readonly entry: Entry;
  readonly onChange: Mapping['change'];
  readonly isDeciding: boolean;
  readonly onTry: (name: string) => void;
}

const EntryRow = memo(function EntryRow(props: EntryRowProps) {
  const { entry, onChange, isDeciding, onTry } = props;
  const [name, target] = entry;
  const { t } = useTranslation();
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const goesNowhere = useGoesNowhere(target);
  const edit = (next: string | undefined): void => {
    setDraft(next);
    setProblem(undefined);
  };
  const commit = (chosen: string): void => {
    const text = chosen.trim();
    const found = text === target ? undefined : sayTargetProblem(text, t);
    setProblem(found);
    if (found !== undefined) return;
    setDraft(undefined);
    if (text === target) return;
    onChange({ [name]: text }, t('routing.changed', { name, target: text }), () =>
      setDraft((now) => now ?? text),
    );
  };
  return (
    <li className={isDeciding ? 'entry is-deciding' : 'entry'}>
      <button
        type="button"
        className="entry-name mono"
        title={t('routing.whereTitle')}
        onClick={() => onTry(name.replaceAll('*', ''))}
      >
        <span className="wrap-anywhere">{name}</span>
        {name.includes('*') && <span className="entry-mark">{t('routing.pattern')}</span>}
        {isDeciding && <span className="entry-mark is-deciding">{t('routing.decides')}</span>}
        {goesNowhere && <span className="entry-mark is-nowhere">{t('routing.goesNowhere')}</span>}
      </button>
      <IconArrowRight className="entry-arrow" size={16} aria-hidden="true" />
      <ModelInput
        takesTargets
        label={t('routing.editTarget', { name })}
        value={draft ?? target}
        error={problem}
        onChange={edit}
        onCommit={commit}
        onCancel={() => edit(undefined)}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('routing.removeEntry', { name })}
        onClick={() => onChange({ [name]: null }, t('routing.removed', { name }))}
      >
        <IconX size={16} />
      </ActionIcon>
    </li>
  );
});
