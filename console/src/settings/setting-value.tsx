// The value of a setting as people read it.

import { useTranslation } from 'react-i18next';
import { useFormat } from '../components/use-format.ts';
import { writeExactly } from '../components/write-bytes.ts';
import type { Field } from './fields.ts';
import { readTexts } from './section-values.ts';

export interface SettingValueProps {
  readonly field: Field;
  /** Undefined for secrets. */
  readonly value: unknown;
}

export function SettingValue({ field, value }: SettingValueProps) {
  const { t } = useTranslation();
  const format = useFormat();
  switch (field.kind) {
    case 'secret':
      return t('settings.secretHidden');
    case 'switch':
      return t(value === true ? 'settings.on' : 'settings.off');
    case 'choice': {
      const option = field.options.find((one) => one.value === value);
      return option === undefined ? String(value) : t(`settings.options.${option.text}`);
    }
    case 'list':
      return readTexts(value).join(', ');
    case 'number':
      if (typeof value !== 'number' || field.id === 'port') return String(value);
      return field.unit === 'bytes'
        ? writeExactly(value, t('settings.units.bytes'))
        : format.number(value);
    case 'text':
    case 'account':
      return String(value);
    default:
      return field satisfies never;
  }
}
