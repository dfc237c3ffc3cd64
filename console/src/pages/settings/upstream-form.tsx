// The form of one upstream.

import { Button, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import { useFollowed } from '../../components/use-followed.ts';
import { useSettle } from '../../components/use-settle.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { valueAt } from '../../settings/section-values.ts';
import { PROFILES, takesSignIn } from './upstream-profiles.ts';
import { ProfileSelect, ReachFields, type UpstreamFields } from './upstream-reach.tsx';
import {
  findUpstreamProblem,
  hasClientSecret,
  listRefused,
  readUpstream,
  type UpstreamValues,
  writeUpstream,
} from './upstream-values.ts';
import '../../components/form.css';

export interface UpstreamFormProps {
  /** '' for a new one. */
  readonly id: string;
  readonly section: ConfigSection;
  readonly onClose: () => void;
}

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
  const suggested = Object.hasOwn(values, PROFILES[0]) ? '' : PROFILES[0];
  const read = readUpstream(id === '' ? suggested : id, last.current);
  const form: UpstreamFields = useForm<UpstreamValues>({ initialValues: read });
  useFollowed(form, read, section.revision);
  useUnsaved(form.isDirty() && !change.isPending);
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
      <ProfileSelect form={form} section={section} isNew={id === ''} />
      <TextInput
        label={t('settings.upstream.id')}
        description={t('settings.upstream.idHint')}
        disabled={id !== ''}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('id')}
      />
      <ReachFields form={form} section={section} />
      {(takesSignIn(form.values.profile) || read.client_id !== '') && (
        <OAuthFields form={form} isSecretSet={hasClientSecret(entry)} />
      )}
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

function useProblem(form: UpstreamFields) {
  const { t } = useTranslation();
  return (problem: NonNullable<ReturnType<typeof findUpstreamProblem>>): void => {
    showField(form, problem.field);
    switch (problem.field) {
      case 'id':
        form.setFieldError('id', t(`settings.upstream.idProblems.${problem.kind}`));
        break;
      case 'base_url':
        form.setFieldError('base_url', t('settings.upstream.baseUrlMissing'));
        break;
      case 'extra_body':
        form.setFieldError('extra_body', t('settings.upstream.extraBodyBad'));
        break;
      case 'max_concurrency':
      case 'max_concurrency_per_account':
        // Said at the field itself.
        break;
      case 'client_id':
        form.setFieldError('client_id', t('settings.upstream.clientIdMissing'));
        break;
      case 'limits':
        form.setFieldError('limits', t('settings.upstream.limitsBad', { line: problem.line }));
        break;
      case 'headers':
      case 'query':
      case 'extra_parameters':
        form.setFieldError(problem.field, t('settings.upstream.pairsBad', { line: problem.line }));
        break;
      default:
        problem satisfies never;
    }
  };
}

/** The form is longer than its drawer: what is wrong may stand out of sight. */
function showField(form: UpstreamFields, field: keyof UpstreamValues | undefined): void {
  if (field !== undefined) form.getInputNode(field)?.focus();
}

interface OAuthFieldsProps {
  readonly form: UpstreamFields;
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
