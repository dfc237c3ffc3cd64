// Controls that one types into: what was typed counts when the field is left, and stays there when it is refused.

import { Button, TextInput } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SecretInput } from '../components/secret-input.tsx';
import { useConfirm } from '../components/use-confirm.tsx';
import { useUnsaved } from '../components/use-unsaved.tsx';
import type { Field, SecretField, TextField } from './fields.ts';
import { isSecretSet } from './section-values.ts';
import type { Setting } from './use-setting.ts';

export interface ControlProps<Kind extends Field = Field> {
  readonly field: Kind;
  readonly setting: Setting;
  readonly id: string;
}

/** Ties a control to its hint. */
export const describedBy = (id: string) => ({ id, 'aria-describedby': `${id}-hint` }) as const;

export function TextControl({ field, setting, id }: ControlProps<TextField>) {
  const { t } = useTranslation();
  const saved = typeof setting.value === 'string' ? setting.value : '';
  const [draft, setDraft] = useState<string>();
  const typed = draft ?? saved;
  useUnsaved(draft !== undefined && !setting.isSaving);
  const commit = (): void => {
    const next = typed.trim();
    if (setting.refusal !== undefined) return;
    if (next !== saved) setting.save(next === '' ? null : next, () => setDraft(unless(typed)));
    else if (!setting.isSaving) setDraft(undefined);
  };
  return (
    <TextInput
      {...describedBy(id)}
      value={typed}
      placeholder={
        field.fallback === undefined ? '' : t('settings.fallback', { value: field.fallback })
      }
      disabled={!setting.isLoaded}
      autoComplete="off"
      spellCheck={false}
      error={setting.refusal}
      onChange={({ currentTarget }) => {
        setting.forgetRefusal();
        setDraft(currentTarget.value);
      }}
      onBlur={commit}
      onKeyDown={onEnter(commit)}
    />
  );
}

export function SecretControl({ field, setting, id }: ControlProps<SecretField>) {
  const { t } = useTranslation();
  const confirm = useConfirm();
  const [typed, setTyped] = useState('');
  const [isTried, setTried] = useState(false);
  useUnsaved(typed !== '' && !setting.isSaving);
  const isSet = isSecretSet(setting.value);
  const { leastLength = 1 } = field;
  const isShort = [...typed].length < leastLength;
  const commit = (): void => {
    setTried(true);
    if (!isShort) setting.save(typed, () => setTyped((now) => (now === typed ? '' : now)));
  };
  const remove = (): void =>
    confirm({
      title: t('settings.removeSecretTitle', { name: t(`settings.fields.${field.id}.name`) }),
      body: <p className="dialog-text">{t('settings.removeSecretHint')}</p>,
      confirm: t('common.remove'),
      onConfirm: () => setting.save(null),
    });
  return (
    <div className="setting-secret">
      <SecretInput
        {...describedBy(id)}
        value={typed}
        placeholder={t(isSet ? 'settings.secretHidden' : 'settings.secretUnset')}
        disabled={!setting.isLoaded}
        autoComplete="new-password"
        error={
          isTried && isShort && typed !== ''
            ? t('settings.tooShort', { least: leastLength })
            : setting.refusal
        }
        onChange={({ currentTarget }) => {
          setting.forgetRefusal();
          setTried(false);
          setTyped(currentTarget.value);
        }}
        onKeyDown={onEnter(commit)}
      />
      {typed !== '' && (
        <Button size="sm" onClick={commit}>
          {t('common.save')}
        </Button>
      )}
      {typed === '' && isSet && (
        <Button size="sm" variant="default" onClick={remove}>
          {t('common.remove')}
        </Button>
      )}
    </div>
  );
}

/** What was saved is no draft any more; what was typed since is. */
export function unless<Value>(saved: Value) {
  return (draft: Value | undefined): Value | undefined => (draft === saved ? undefined : draft);
}

function onEnter(commit: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit();
  };
}
