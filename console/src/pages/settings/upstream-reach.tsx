// The fields of an upstream that say what it is and how it is reached: those its profile takes.

import { Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { AmountInput } from '../../components/amount-input.tsx';
import { useOverrideText } from '../../settings/override-note.tsx';
import { findOverride } from '../../settings/section-values.ts';
import {
  authWays,
  hasField,
  isProfile,
  needsAddress,
  PRESET_ADDRESSES,
  PROFILES,
  presetAddress,
} from './upstream-profiles.ts';
import { CALLS_AT_ONCE, type UpstreamValues, VOCABULARIES } from './upstream-values.ts';

export type UpstreamFields = UseFormReturnType<UpstreamValues>;

export interface ReachFieldsProps {
  readonly form: UpstreamFields;
  readonly section: ConfigSection;
}

/** What the environment says holds, whatever is written here. */
function useLock({ form, section }: ReachFieldsProps) {
  const sayOverride = useOverrideText();
  return (field: string) => {
    const override = findOverride(section, [form.values.id, field]);
    if (override === undefined) return {};
    return { disabled: true, value: String(override.value), description: sayOverride(override) };
  };
}

/** An id that the profile suggests goes with it, until a person writes another. */
export function ProfileSelect(props: ReachFieldsProps & { readonly isNew: boolean }) {
  const { form, section, isNew } = props;
  const { t } = useTranslation();
  const lock = useLock(props);
  const { id, profile, auth } = form.values;
  const suggest = (one: string): string => (Object.hasOwn(section.values, one) ? '' : one);
  const choose = (next: string | null): void => {
    if (next === null) return;
    if (isNew && (id === '' || id === profile)) form.setFieldValue('id', suggest(next));
    if (auth !== null && !authWays(next).includes(auth)) form.setFieldValue('auth', null);
    form.setFieldValue('profile', next);
  };
  return (
    <Select
      label={t('settings.upstream.profile')}
      description={isProfile(profile) ? t(`settings.upstream.profileHints.${profile}`) : undefined}
      data={PROFILES.map((value) => ({
        value,
        label: t(`settings.upstream.profileNames.${value}`),
      }))}
      allowDeselect={false}
      {...form.getInputProps('profile')}
      onChange={choose}
      {...lock('profile')}
    />
  );
}

export function ReachFields(props: ReachFieldsProps) {
  const { form } = props;
  const { t } = useTranslation();
  const lock = useLock(props);
  const { profile, auth, quirks, base_url } = form.values;
  const needsUrl = needsAddress(profile);
  const ways = authWays(profile);
  const text = (field: 'base_url' | 'location' | 'quota_path', label: string, hint: string) => (
    <TextInput
      label={label}
      withAsterisk={field === 'base_url' && needsUrl}
      description={hint}
      inputMode={field === 'base_url' ? 'url' : 'text'}
      autoComplete="off"
      spellCheck={false}
      {...form.getInputProps(field)}
      {...lock(field)}
    />
  );
  const amount = (field: 'max_concurrency' | 'max_concurrency_per_account') => {
    const { onChange, error } = form.getInputProps(field);
    return { value: form.values[field], onChange, error };
  };
  const choosePreset = (next: string | null): void => {
    // An address that a person wrote stays.
    if (base_url === '' || base_url === presetAddress(quirks)) {
      form.setFieldValue('base_url', presetAddress(next));
    }
    form.setFieldValue('quirks', next);
  };
  return (
    <>
      {hasField(profile, 'quirks') && (
        <Select
          label={t('settings.upstream.quirks')}
          description={t('settings.upstream.quirksHint')}
          data={Object.keys(PRESET_ADDRESSES).map((value) => ({
            value,
            label: PRESET_NAMES.get(value) ?? value,
          }))}
          placeholder={t('settings.upstream.quirksNone')}
          clearable
          {...form.getInputProps('quirks')}
          onChange={choosePreset}
          {...lock('quirks')}
        />
      )}
      {text(
        'base_url',
        t('settings.upstream.baseUrl'),
        t(needsUrl ? 'settings.upstream.baseUrlNeeded' : 'settings.upstream.baseUrlHint'),
      )}
      <div className="form-row">
        {hasField(profile, 'vocabulary') && (
          <Select
            label={t('settings.upstream.vocabulary')}
            description={t('settings.upstream.vocabularyHint')}
            data={[...VOCABULARIES]}
            placeholder={VOCABULARIES[0]}
            clearable
            {...form.getInputProps('vocabulary')}
            {...lock('vocabulary')}
          />
        )}
        {hasField(profile, 'auth') && (
          <Select
            label={t('settings.upstream.auth')}
            description={t('settings.upstream.authHint')}
            data={[...ways]}
            placeholder={ways[0]}
            clearable
            {...form.getInputProps('auth')}
            {...lock('auth')}
          />
        )}
        {hasField(profile, 'key_header') && auth === 'header' && (
          <TextInput
            label={t('settings.upstream.keyHeader')}
            description={t('settings.upstream.keyHeaderHint')}
            placeholder="api-key"
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('key_header')}
          />
        )}
      </div>
      {hasField(profile, 'quota_path') &&
        text('quota_path', t('settings.upstream.quotaPath'), t('settings.upstream.quotaPathHint'))}
      {hasField(profile, 'location') &&
        text('location', t('settings.upstream.location'), t('settings.upstream.locationHint'))}
      <RequestFields form={form} />
      <div className="form-row">
        <AmountInput
          range={CALLS_AT_ONCE}
          label={t('settings.upstream.maxConcurrency')}
          description={t('settings.upstream.maxConcurrencyHint')}
          {...amount('max_concurrency')}
        />
        <AmountInput
          range={CALLS_AT_ONCE}
          label={t('settings.upstream.maxPerAccount')}
          description={t('settings.upstream.maxPerAccountHint')}
          {...amount('max_concurrency_per_account')}
        />
      </div>
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

const PRESET_NAMES: ReadonlyMap<string, string> = new Map([
  ['openrouter', 'OpenRouter'],
  ['litellm', 'LiteLLM'],
  ['groq', 'Groq'],
  ['mistral', 'Mistral'],
  ['deepseek', 'DeepSeek'],
  ['moonshot', 'Moonshot AI (Kimi)'],
  ['zai', 'Z.ai (GLM)'],
  ['minimax', 'MiniMax'],
  ['qwen', 'Alibaba Cloud Model Studio (Qwen)'],
  ['xai', 'xAI'],
  ['ollama', 'Ollama'],
  ['lm-studio', 'LM Studio'],
  ['llama.cpp', 'llama.cpp server'],
  ['llama-cpp-python', 'llama-cpp-python server'],
  ['vllm', 'vLLM'],
]);

/** What goes with every request. */
function RequestFields({ form }: { readonly form: UpstreamFields }) {
  const { t } = useTranslation();
  const { profile } = form.values;
  const lines = (field: 'headers' | 'query' | 'extra_body', label: string, hint: string) => (
    <Textarea
      className="mono-field"
      label={label}
      description={hint}
      autosize
      minRows={2}
      spellCheck={false}
      {...form.getInputProps(field)}
    />
  );
  const paths = [
    ['chat_path', t('settings.upstream.chatPath'), '/chat/completions'],
    ['models_path', t('settings.upstream.modelsPath'), '/models'],
    ['embeddings_path', t('settings.upstream.embeddingsPath'), '/embeddings'],
    ['images_path', t('settings.upstream.imagesPath'), '/images/generations'],
    ['edits_path', t('settings.upstream.editsPath'), '/images/edits'],
    ['transcriptions_path', t('settings.upstream.transcriptionsPath'), '/audio/transcriptions'],
    ['translations_path', t('settings.upstream.translationsPath'), '/audio/translations'],
    ['speech_path', t('settings.upstream.speechPath'), '/audio/speech'],
  ] as const;
  const endpoints = [
    ['images_models', t('settings.upstream.imagesModels')],
    ['transcriptions_models', t('settings.upstream.transcriptionsModels')],
    ['speech_models', t('settings.upstream.speechModels')],
  ] as const;
  return (
    <>
      {hasField(profile, 'headers') &&
        lines('headers', t('settings.upstream.headers'), t('settings.upstream.headersHint'))}
      {hasField(profile, 'query') &&
        lines('query', t('settings.upstream.query'), t('settings.upstream.queryHint'))}
      {hasField(profile, 'paths') && (
        <div>
          <div className="form-row">
            {paths.map(([field, label, usual]) => (
              <TextInput
                key={field}
                className="mono-field"
                label={label}
                placeholder={usual}
                autoComplete="off"
                spellCheck={false}
                {...form.getInputProps(field)}
              />
            ))}
          </div>
          <p className="form-note">{t('settings.upstream.pathsHint')}</p>
        </div>
      )}
      {hasField(profile, 'endpoints') && (
        <div>
          {endpoints.map(([field, label]) => (
            <TagsInput
              key={field}
              className="mono-field"
              label={label}
              {...form.getInputProps(field)}
            />
          ))}
          <p className="form-note">{t('settings.upstream.endpointsHint')}</p>
        </div>
      )}
      {hasField(profile, 'ends_with') && (
        <Select
          label={t('settings.upstream.endsWith')}
          description={t('settings.upstream.endsWithHint')}
          data={[
            { value: 'finish_reason', label: 'finish_reason' },
            { value: 'done', label: '[DONE]' },
          ]}
          placeholder="finish_reason"
          clearable
          {...form.getInputProps('ends_with')}
        />
      )}
      {hasField(profile, 'extra_body') &&
        lines(
          'extra_body',
          t('settings.upstream.extraBody'),
          t('settings.upstream.extraBodyHint', { example: '{"seed": 1}' }),
        )}
    </>
  );
}
