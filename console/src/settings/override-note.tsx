// Stands where a setting's control would be, when a flag or the environment says what holds.

import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SettingOverride } from '../../../src/admin/contract.ts';
import './settings.css';

export interface OverrideNoteProps {
  readonly override: SettingOverride;
  /** What holds, as people read it. */
  readonly children: ReactNode;
}

export function OverrideNote({ override, children }: OverrideNoteProps) {
  const say = useOverrideText();
  return (
    <div className="setting-override">
      <IconLock size={16} aria-hidden="true" />
      <strong className="wrap-anywhere">{children}</strong>
      <span className="dimmed small wrap-anywhere">{say(override)}</span>
    </div>
  );
}

/** Who set it, and what to do to change it. */
export function useOverrideText(): (override: SettingOverride) => string {
  const { t } = useTranslation();
  return ({ origin, name }) =>
    t(origin === 'flag' ? 'settings.overriddenByFlag' : 'settings.overriddenByVariable', { name });
}
