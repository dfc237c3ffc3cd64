// The control of an amount of the settings: saved when it is left, and refused where it is written.

import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AmountInput } from '../components/amount-input.tsx';
import { writeGrouped } from '../components/read-amount.ts';
import { useAmount } from '../components/use-amount.ts';
import { useFormat } from '../components/use-format.ts';
import { writeBytes } from '../components/write-bytes.ts';
import type { NumberField } from './fields.ts';
import { type ControlProps, describedBy, unless } from './typed-controls.tsx';

export function NumberControl({ field, setting, id }: ControlProps<NumberField>) {
  const { t } = useTranslation();
  const format = useFormat();
  const { read, sayProblem } = useAmount(field);
  const saved = typeof setting.value === 'number' ? setting.value : undefined;
  const [draft, setDraft] = useState<string>();
  const typed = draft ?? (saved === undefined ? '' : writeValue(field, saved));
  const commit = (): void => {
    if (sayProblem(typed) !== undefined || setting.refusal !== undefined) return;
    const amount = read(typed);
    const next = amount.kind === 'value' ? amount.value : undefined;
    if (next !== saved) setting.save(next ?? null, () => setDraft(unless(typed)));
    else if (!setting.isSaving) setDraft(undefined);
  };
  return (
    <AmountInput
      {...describedBy(id)}
      range={field}
      value={typed}
      placeholder={t('settings.fallback', { value: writeFallback(field, format.number) })}
      disabled={!setting.isLoaded}
      error={setting.refusal}
      onChange={(text) => {
        setting.forgetRefusal();
        setDraft(text);
      }}
      onCommit={commit}
    />
  );
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
