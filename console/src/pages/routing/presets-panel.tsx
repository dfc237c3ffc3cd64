// Ready-made mappings, each with what applying it would change.

import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Presets } from '../../../../src/admin/contract.ts';
import { presetsQuery } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { type Mapping, type NamedEntries, useEntries, useMapping } from './use-mapping.ts';

type Preset = Presets['presets'][number];

export function PresetsPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(presetsQuery);
  const mapping = useMapping();
  const own: OwnPresets = useEntries('presets', Object.keys);
  return (
    <Panel title={t('routing.presets')} hint={t('routing.presetsHint')}>
      {data === undefined && error !== null && (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      )}
      <ul className="presets">
        {data?.presets.map((preset) => (
          <PresetItem key={preset.name} preset={preset} mapping={mapping} own={own} />
        ))}
      </ul>
      <NewPreset mapping={mapping} own={own} taken={data?.presets.map(({ name }) => name) ?? []} />
    </Panel>
  );
}

type OwnPresets = NamedEntries<readonly string[]>;

const NAME = /^[\w.-]{1,64}$/;

/** Keeps the mapping as it is now under a name. */
function NewPreset({
  mapping,
  own,
  taken,
}: {
  readonly mapping: Mapping;
  readonly own: OwnPresets;
  readonly taken: readonly string[];
}) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  useUnsaved(name !== '');
  const trimmed = name.trim();
  const isGood = NAME.test(trimmed) && !taken.includes(trimmed);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isGood) return;
    const patch = { [trimmed]: Object.fromEntries(mapping.entries) };
    own.change(patch, t('routing.presetKept', { name: trimmed }), () => setName(name));
    setName('');
  };
  return (
    <form className="preset-new" onSubmit={submit} aria-label={t('routing.keepPreset')}>
      <TextInput
        className="mono-field"
        aria-label={t('routing.presetName')}
        placeholder={t('routing.presetName')}
        autoComplete="off"
        spellCheck={false}
        value={name}
        error={trimmed === '' || isGood ? undefined : t('routing.presetNameBad')}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={!isGood || mapping.entries.length === 0}>
        {t('routing.keepPreset')}
      </Button>
    </form>
  );
}

const EFFECTS = ['added', 'changed', 'removed'] as const;

interface PresetItemProps {
  readonly preset: Preset;
  readonly mapping: Mapping;
  readonly own: OwnPresets;
}

function PresetItem({ preset, mapping, own }: PresetItemProps) {
  const { t } = useTranslation();
  const { name, description } = usePresetTexts(preset);
  const counts = effectOf(preset, mapping);
  const effects = EFFECTS.filter((effect) => counts[effect] > 0);
  const isApplied = effects.length === 0;
  const lines = Object.entries(preset.mapping).map(([from, to]) => `${from} → ${to}`);
  return (
    <li>
      <div>
        <h3>{name}</h3>
        {description !== '' && <p className="dimmed">{description}</p>}
        <details>
          <summary className="small">
            {[
              t('routing.presetEntries', { count: lines.length }),
              ...effects.map((one) => t(`routing.presetEffects.${one}`, { count: counts[one] })),
            ].join(' · ')}
          </summary>
          <ul className="preset-lines mono">
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      </div>
      <div className="preset-acts">
        {own.entries.includes(preset.name) && (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`${t('common.remove')}: ${name}`}
            onClick={() =>
              own.change({ [preset.name]: null }, t('routing.presetRemoved', { name }))
            }
          >
            {t('common.remove')}
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          disabled={isApplied || mapping.isLoading}
          aria-label={`${t(isApplied ? 'routing.applied' : 'routing.apply')}: ${name}`}
          onClick={() => mapping.change(preset.patch, t('routing.presetDone', { name }))}
        >
          {isApplied ? t('routing.applied') : t('routing.apply')}
        </Button>
      </div>
    </li>
  );
}

/** What applying it changes, as far as that is not so already. */
function effectOf({ patch }: Preset, { entries }: Mapping) {
  const known = new Map(entries);
  const changes = Object.entries(patch).filter(
    ([name, target]) => (known.get(name) ?? null) !== target,
  );
  const removed = changes.filter(([, target]) => target === null).length;
  const added = changes.filter(([name, target]) => target !== null && !known.has(name)).length;
  return { added, removed, changed: changes.length - added - removed };
}

/** Presets that the console has no words for speak for themselves. */
function usePresetTexts({ name, description }: Preset) {
  const { t } = useTranslation();
  if (name !== 'default' && name !== 'performance' && name !== 'cost-effective') {
    return { name, description };
  }
  return {
    name: t(`routing.presetNames.${name}`),
    description: t(`routing.presetDescriptions.${name}`),
  };
}
