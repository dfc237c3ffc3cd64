// The form of one upstream.

import { Button, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useFollowed } from '../../components/use-followed.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useOverrideText } from '../../settings/override-note.tsx';
import { findOverride, valueAt } from '../../settings/section-values.ts';
import {
  AUTH_WAYS,
  findUpstreamProblem,
  hasClientSecret,
  listRefused,
  PROFILES,
  readUpstream,
  type UpstreamValues,
  VOCABULARIES,
  writeUpstream,
} from './upstream-values.ts';
import '../../components/form.css';

export interface UpstreamFormProps {
  /** '' for a new one. */
  readonly id: string;
  readonly section: ConfigSection;
  readonly onClose: () => void;
}

type Form = UseFormReturnType<UpstreamValues>;

export function UpstreamForm({ id, section, onClose }: UpstreamFormProps) {
  const { t } = useTranslation();
  const toasts = useToasts();
  const settle = useSettle();
  const change = useChangeSection('upstreams');
  const { values } = section;
  const entry = id === '' ? undefined : valueAt(values, [id]);
  // An entry that somebody else removed is written anew as it was.
  const last = useRef(entry);
  if (entry !== undefined) last.current = entry;
  const read = readUpstream(id, last.current);
  const form: Form = useForm<UpstreamValues>({ initialValues: read });
  useFollowed(form, read, section.revision);
  const showProblem = useProblem(form);
  const submit = form.onSubmit((typed) => {
    const takenIds = id === '' ? Object.keys(values) : [];
    const problem = findUpstreamProblem(typed, takenIds);
    if (problem !== undefined) {
      showProblem(problem);
      return;
    }
    const patch = { [typed.id]: writeUpstream(typed, entry) };
    settle(
      change.mutateAsync({ patch }),
      (_saved, isOpen) => {
        if (isOpen) onClose();
        toasts.done(t('settings.upstream.saved', { id: typed.id }));
      },
      (refusal) => {
        const refused = listRefused(refusal, typed) ?? [];
        for (const { field, words } of refused) form.setFieldError(field, words);
        showField(form, refused[0]?.field);
      },
    );
  });
  return (
    <form className="form-stack" onSubmit={submit} noValidate>
      <TextInput
        label={t('settings.upstream.id')}
        description={t('settings.upstream.idHint')}
        disabled={id !== ''}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('id')}
      />
      <ReachFields form={form} section={section} />
      <OAuthFields form={form} isSecretSet={hasClientSecret(entry)} />
      {change.error !== null && listRefused(change.error, form.values) === undefined && (
        <ErrorNote error={change.error} />
      )}
      <div className="form-actions">
        <Button variant="default" onClick={onClose}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={change.isPending}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
}

function useProblem(form: Form) {
  const { t } = useTranslation();
  return (problem: NonNullable<ReturnType<typeof findUpstreamProblem>>): void => {
    showField(form, problem.field);
    switch (problem.field) {
      case 'id':
        form.setFieldError(
          'id',
          t(problem.kind === 'bad' ? 'settings.upstream.idBad' : 'settings.upstream.idTaken'),
        );
        break;
      case 'client_id':
        form.setFieldError('client_id', t('settings.upstream.clientIdMissing'));
        break;
      case 'limits':
        form.setFieldError('limits', t('settings.upstream.limitsBad', { line: problem.line }));
        break;
      case 'extra_parameters':
        form.setFieldError(
          'extra_parameters',
          t('settings.upstream.extraParametersBad', { line: problem.line }),
        );
        break;
      default:
        problem satisfies never;
    }
  };
}

/** The form is longer than its drawer: what is wrong may stand out of sight. */
function showField(form: Form, field: keyof UpstreamValues | undefined): void {
  if (field !== undefined) form.getInputNode(field)?.focus();
}

interface ReachFieldsProps {
  readonly form: Form;
  readonly section: ConfigSection;
}

function ReachFields({ form, section }: ReachFieldsProps) {
  const { t } = useTranslation();
  const sayOverride = useOverrideText();
  const { id, profile } = form.values;
  /** What the environment says holds, whatever is written here. */
  const lock = (field: string) => {
    const override = findOverride(section, [id, field]);
    if (override === undefined) return {};
    return { disabled: true, value: String(override.value), description: sayOverride(override) };
  };
  const isGeneric = profile === 'generic';
  const text = (field: 'base_url' | 'location' | 'quota_path', label: string, hint: string) => (
    <TextInput
      label={label}
      withAsterisk={isGeneric && field === 'base_url'}
      description={hint}
      autoComplete="off"
      spellCheck={false}
      {...form.getInputProps(field)}
      {...lock(field)}
    />
  );
  return (
    <>
      <Select
        label={t('settings.upstream.profile')}
        description={
          isProfile(profile) ? t(`settings.upstream.profileHints.${profile}`) : undefined
        }
        data={[...PROFILES]}
        allowDeselect={false}
        {...form.getInputProps('profile')}
        {...lock('profile')}
      />
      {text(
        'base_url',
        t('settings.upstream.baseUrl'),
        t(isGeneric ? 'settings.upstream.baseUrlNeeded' : 'settings.upstream.baseUrlHint'),
      )}
      {isGeneric && (
        <div className="form-row">
          <Select
            label={t('settings.upstream.vocabulary')}
            description={t('settings.upstream.vocabularyHint')}
            data={[...VOCABULARIES]}
            placeholder={VOCABULARIES[0]}
            clearable
            {...form.getInputProps('vocabulary')}
            {...lock('vocabulary')}
          />
          <Select
            label={t('settings.upstream.auth')}
            description={t('settings.upstream.authHint')}
            data={[...AUTH_WAYS]}
            placeholder={AUTH_WAYS[0]}
            clearable
            {...form.getInputProps('auth')}
            {...lock('auth')}
          />
        </div>
      )}
      {isGeneric &&
        text('quota_path', t('settings.upstream.quotaPath'), t('settings.upstream.quotaPathHint'))}
      {profile === 'vertex' &&
        text('location', t('settings.upstream.location'), t('settings.upstream.locationHint'))}
      <Textarea
        label={t('settings.upstream.limits')}
        description={t('settings.upstream.limitsHint')}
        autosize
        minRows={2}
        spellCheck={false}
        {...form.getInputProps('limits')}
      />
    </>
  );
}

function isProfile(text: string): text is (typeof PROFILES)[number] {
  return PROFILES.some((one) => one === text);
}

interface OAuthFieldsProps {
  readonly form: Form;
  readonly isSecretSet: boolean;
}

function OAuthFields({ form, isSecretSet }: OAuthFieldsProps) {
  const { t } = useTranslation();
  const urls = [
    ['authorization_url', t('settings.upstream.authorizationUrl')],
    ['token_url', t('settings.upstream.tokenUrl')],
    ['revocation_url', t('settings.upstream.revocationUrl')],
    ['userinfo_url', t('settings.upstream.userinfoUrl')],
    ['issuer', t('settings.upstream.issuer')],
    ['redirect_url', t('settings.upstream.redirectUrl')],
  ] as const;
  return (
    <fieldset className="form-group">
      <legend>{t('settings.upstream.oauth')}</legend>
      <p className="form-note">{t('settings.upstream.oauthHint')}</p>
      <div className="form-row">
        <TextInput
          label={t('settings.upstream.clientId')}
          autoComplete="off"
          {...form.getInputProps('client_id')}
        />
        <SecretInput
          label={t('settings.upstream.clientSecret')}
          placeholder={isSecretSet ? t('settings.secretHidden') : ''}
          autoComplete="new-password"
          {...form.getInputProps('client_secret')}
        />
      </div>
      <div className="form-row">
        {urls.map(([name, label]) => (
          <TextInput
            key={name}
            label={label}
            inputMode="url"
            autoComplete="off"
            {...form.getInputProps(name)}
          />
        ))}
      </div>
      <TagsInput label={t('settings.upstream.scopes')} {...form.getInputProps('scopes')} />
      <Textarea
        label={t('settings.upstream.extraParameters')}
        description={t('settings.upstream.extraParametersHint')}
        autosize
        minRows={2}
        spellCheck={false}
        {...form.getInputProps('extra_parameters')}
      />
    </fieldset>
  );
}
