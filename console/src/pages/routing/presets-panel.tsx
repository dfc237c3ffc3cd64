// Ready-made mappings, each with what applying it would change.

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Presets } from '../../../../src/admin/contract.ts';
import { presetsQuery } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { type Mapping, useMapping } from './use-mapping.ts';

type Preset = Presets['presets'][number];

export function PresetsPanel() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(presetsQuery);
  const mapping = useMapping();
  return (
    <Panel title={t('routing.presets')} hint={t('routing.presetsHint')}>
      {data === undefined && error !== null && (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      )}
      <ul className="presets">
        {data?.presets.map((preset) => (
          <PresetItem
            key={preset.name}
            preset={preset}
            others={data.presets.filter((other) => other !== preset)}
            mapping={mapping}
          />
        ))}
      </ul>
    </Panel>
  );
}

const EFFECTS = ['added', 'changed', 'removed'] as const;

interface PresetItemProps {
  readonly preset: Preset;
  readonly others: readonly Preset[];
  readonly mapping: Mapping;
}

function PresetItem({ preset, others, mapping }: PresetItemProps) {
  const { t } = useTranslation();
  const { name, description } = usePresetTexts(preset);
  const { patch, ...counts } = effectOf({ preset, others, mapping });
  const effects = EFFECTS.filter((effect) => counts[effect] > 0);
  const isApplied = effects.length === 0;
  const lines = Object.entries(preset.mapping).map(([from, to]) => `${from} → ${to}`);
  return (
    <li>
      <div>
        <h3>{name}</h3>
        <p className="dimmed">{description}</p>
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
      <Button
        size="xs"
        variant="default"
        disabled={isApplied || mapping.isLoading}
        aria-label={`${t(isApplied ? 'routing.applied' : 'routing.apply')}: ${name}`}
        onClick={() => mapping.change(patch, t('routing.presetDone', { name }))}
      >
        {isApplied ? t('routing.applied') : t('routing.apply')}
      </Button>
    </li>
  );
}

/** What another preset brought goes, as long as nobody changed it. */
function effectOf({ preset, others, mapping: { entries } }: PresetItemProps) {
  const known = new Map(entries);
  const targets = Object.entries(preset.mapping);
  const brought = entries.filter(
    ([name, target]) =>
      !(name in preset.mapping) && others.some(({ mapping }) => mapping[name] === target),
  );
  const added = targets.filter(([name]) => !known.has(name)).length;
  const same = targets.filter(([name, target]) => known.get(name) === target).length;
  return {
    added,
    changed: targets.length - added - same,
    removed: brought.length,
    patch: { ...Object.fromEntries(brought.map(([name]) => [name, null])), ...preset.mapping },
  };
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
