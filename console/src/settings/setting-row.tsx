// One setting in a line: what it is and does on one side, its control on the other.

import { useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Hint } from '../components/hint.tsx';
import { useFormat } from '../components/use-format.ts';
import { useSearchTexts } from '../components/use-search-texts.ts';
import { writeExactly } from '../components/write-bytes.ts';
import type { Field } from './fields.ts';
import { OverrideNote } from './override-note.tsx';
import { readTexts } from './section-values.ts';
import { SettingControl } from './setting-control.tsx';
import { useSetting } from './use-setting.ts';
import './settings.css';

/** The one that the address names is brought into view and has the focus. */
export function SettingRow({ field }: { readonly field: Field }) {
  const { t } = useTranslation();
  const id = useId();
  const setting = useSetting(field);
  const { override } = setting;
  const { texts } = useSearchTexts();
  const isMeant = texts.field === field.id;
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isMeant) return;
    row.current?.scrollIntoView({ block: 'center' });
    row.current?.focus({ preventScroll: true });
  }, [isMeant]);
  const isSwitch = field.kind === 'switch' && override === undefined;
  const shape = field.kind === 'list' ? ' is-wide' : isSwitch ? ' is-switch' : '';
  return (
    <div
      ref={row}
      className={`setting${shape}${isMeant ? ' is-meant' : ''}`}
      tabIndex={isMeant ? -1 : undefined}
    >
      <div className="setting-words">
        {override === undefined ? (
          <label htmlFor={id} className="setting-name">
            {t(`settings.fields.${field.id}.name`)}
          </label>
        ) : (
          <strong className="setting-name">{t(`settings.fields.${field.id}.name`)}</strong>
        )}
        <p id={`${id}-hint`} className="setting-hint">
          {t(`settings.fields.${field.id}.hint`)}
        </p>
        {override === undefined && <SettingMarks field={field} />}
      </div>
      <div className="setting-control">
        {override === undefined ? (
          <SettingControl field={field} setting={setting} id={id} />
        ) : (
          <OverrideNote override={override}>
            <SettingValue field={field} value={override.value} />
          </OverrideNote>
        )}
      </div>
    </div>
  );
}

function SettingMarks({ field }: { readonly field: Field }) {
  const { t } = useTranslation();
  const { variable, needsRestart = false } = field;
  if (variable === undefined && !needsRestart) return null;
  return (
    <div className="setting-marks">
      {needsRestart && <span className="setting-mark is-warn">{t('settings.needsRestart')}</span>}
      {variable !== undefined && (
        <Hint label={t('settings.variableHint', { variable })}>
          <span className="setting-mark mono">{variable}</span>
        </Hint>
      )}
    </div>
  );
}

interface SettingValueProps {
  readonly field: Field;
  /** Undefined for secrets. */
  readonly value: unknown;
}

function SettingValue({ field, value }: SettingValueProps) {
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
