// The control of an amount: read as people write it, and refused where it is written.

import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../components/use-format.ts';
import type { NumberField } from './fields.ts';
import { type Amount, readAmount, writeGrouped } from './read-amount.ts';
import { type ControlProps, describedBy, onEnter, unless } from './typed-controls.tsx';
import { writeBytes } from './write-bytes.ts';

export function NumberControl({ field, setting, id }: ControlProps<NumberField>) {
  const { t } = useTranslation();
  const format = useFormat();
  const saved = typeof setting.value === 'number' ? setting.value : undefined;
  const [draft, setDraft] = useState<string>();
  const [isTried, setTried] = useState(false);
  const typed = draft ?? (saved === undefined ? '' : writeValue(field, saved));
  const { unit, isWhole } = field;
  const isSize = unit === 'bytes';
  const words = unit === undefined ? [] : [t(`settings.units.${unit}`)];
  const amount = readAmount(typed, { isSize, words });
  const problem = findProblem(field, amount);
  const commit = (): void => {
    setTried(true);
    if (problem !== undefined || setting.refusal !== undefined) return;
    const next = amount.kind === 'value' ? amount.value : undefined;
    if (next !== saved) setting.save(next ?? null, () => setDraft(unless(typed)));
    else if (!setting.isSaving) setDraft(undefined);
  };
  const writeLimit = isSize ? writeBytes : format.number;
  const limits = { least: writeLimit(field.least), most: writeLimit(field.most) };
  return (
    <TextInput
      {...describedBy(id)}
      value={typed}
      placeholder={t('settings.fallback', { value: writeFallback(field, format.number) })}
      inputMode={isSize ? 'text' : isWhole ? 'numeric' : 'decimal'}
      autoComplete="off"
      spellCheck={false}
      disabled={!setting.isLoaded}
      rightSectionWidth={unit === undefined ? 0 : 84}
      rightSection={
        unit !== undefined && (
          <span className="setting-unit">
            {isSize && amount.kind === 'value'
              ? writeBytes(amount.value)
              : t(`settings.units.${unit}`)}
          </span>
        )
      }
      error={isTried && problem !== undefined ? t(`settings.${problem}`, limits) : setting.refusal}
      onChange={({ currentTarget }) => {
        setting.forgetRefusal();
        setTried(false);
        setDraft(currentTarget.value);
      }}
      onBlur={commit}
      onKeyDown={onEnter(commit)}
    />
  );
}

type Problem = 'outOfRange' | 'notWhole' | 'unreadable' | 'unreadableSize';

function findProblem(field: NumberField, amount: Amount): Problem | undefined {
  const { least, most, isWhole, unit } = field;
  switch (amount.kind) {
    case 'none':
      return undefined;
    case 'unreadable':
      return unit === 'bytes' ? 'unreadableSize' : 'unreadable';
    case 'value':
      if (amount.value < least || amount.value > most) return 'outOfRange';
      return isWhole && amount.value % 1 !== 0 ? 'notWhole' : undefined;
    default:
      return amount satisfies never;
  }
}

// A port is a name, not an amount.
function writeValue({ id }: NumberField, value: number): string {
  return id === 'port' ? String(value) : writeGrouped(value);
}

function writeFallback(
  { fallback, unit, id }: NumberField,
  write: (value: number) => string,
): string {
  if (id === 'port') return String(fallback);
  return unit === 'bytes' ? writeBytes(fallback) : write(fallback);
}
