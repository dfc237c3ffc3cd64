// One setting in a line: what it is and does on one side, its control on the other.

import { Tooltip } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Field } from './fields.ts';
import { SettingControl } from './setting-control.tsx';
import { useSetting } from './use-setting.ts';
import './settings.css';

export interface SettingRowProps {
  readonly field: Field;
  /** What holds instead, where the environment or a flag is known to win over the file. */
  readonly override?: string | undefined;
}

export function SettingRow({ field, override }: SettingRowProps) {
  const { t } = useTranslation();
  const id = useId();
  const setting = useSetting(field);
  const shape = field.kind === 'list' ? ' is-wide' : field.kind === 'switch' ? ' is-switch' : '';
  return (
    <div className={`setting${shape}`}>
      <div className="setting-words">
        <label htmlFor={id} className="setting-name">
          {t(`settings.fields.${field.id}.name`)}
        </label>
        <p id={`${id}-hint`} className="setting-hint">
          {t(`settings.fields.${field.id}.hint`)}
        </p>
        <SettingMarks field={field} />
      </div>
      <div className="setting-control">
        {override === undefined ? (
          <SettingControl
            // A value that was changed elsewhere begins a field anew.
            key={JSON.stringify(setting.value) ?? ''}
            field={field}
            setting={setting}
            id={id}
          />
        ) : (
          <div className="setting-override">
            <strong>{override}</strong>
            <span className="dimmed small">{t('settings.overridden')}</span>
          </div>
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
        <Tooltip label={t('settings.variableHint', { variable })}>
          <span className="setting-mark mono">{variable}</span>
        </Tooltip>
      )}
    </div>
  );
}
