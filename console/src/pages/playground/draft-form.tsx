// What a request of the playground is made of besides the message itself.

import {
  Autocomplete,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  Switch,
  Textarea,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { modelsQuery } from '../../api/queries/models.ts';
import type { WireProtocol } from '../../wire/read-answer.ts';
import type { Draft } from '../../wire/write-request.ts';
import '../../components/form.css';

const PROTOCOLS: readonly WireProtocol[] = ['chat', 'messages', 'generate', 'responses', 'images'];

export interface DraftFormProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly accessKey: string;
  readonly onAccessKey: (key: string) => void;
}

export function DraftForm({ draft, onDraft, accessKey, onAccessKey }: DraftFormProps) {
  const { t } = useTranslation();
  const models = useQuery(modelsQuery);
  const isImage = draft.protocol === 'images';
  const names = (models.data?.models ?? [])
    .filter((model) => (isImage ? model.drawsImages : true))
    .map(({ id }) => id);
  const change = (part: Partial<Draft>): void => onDraft({ ...draft, ...part });
  return (
    <>
      <Select
        label={t('playground.protocol')}
        data={PROTOCOLS.map((value) => ({ value, label: t(`playground.protocols.${value}`) }))}
        value={draft.protocol}
        allowDeselect={false}
        onChange={(value) => {
          const protocol = PROTOCOLS.find((one) => one === value);
          if (protocol !== undefined) change({ protocol });
        }}
      />
      <Autocomplete
        label={t('playground.model')}
        placeholder={t('playground.modelHint')}
        data={[...new Set(names)]}
        limit={60}
        value={draft.model}
        onChange={(model) => change({ model })}
        autoComplete="off"
        spellCheck={false}
      />
      {isImage ? (
        <ImageFields draft={draft} onChange={change} />
      ) : (
        <TextFields draft={draft} onChange={change} />
      )}
      <PasswordInput
        label={t('playground.key')}
        description={t('playground.keyHint')}
        placeholder="sk-…"
        autoComplete="off"
        value={accessKey}
        onChange={({ currentTarget }) => onAccessKey(currentTarget.value)}
      />
    </>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** Steps the specification names. */
const THINKING = { low: 8192, medium: 16_384, high: 24_576 } as const;
const AMOUNTS = ['usual', 'low', 'medium', 'high'] as const;

function TextFields({ draft, onChange }: FieldsProps) {
  const { t } = useTranslation();
  const amount =
    AMOUNTS.find((one) => one !== 'usual' && THINKING[one] === draft.thinkingTokens) ?? 'usual';
  const numberOf = (value: number | string): number | undefined =>
    typeof value === 'number' ? value : undefined;
  return (
    <>
      <Textarea
        label={t('playground.system')}
        autosize
        minRows={2}
        maxRows={8}
        value={draft.system}
        onChange={({ currentTarget }) => onChange({ system: currentTarget.value })}
      />
      <div className="form-row">
        <NumberInput
          label={t('playground.maxTokens')}
          placeholder={t('playground.usual')}
          min={1}
          allowDecimal={false}
          hideControls
          value={draft.maxTokens ?? ''}
          onChange={(value) => onChange({ maxTokens: numberOf(value) })}
        />
        <NumberInput
          label={t('playground.temperature')}
          placeholder={t('playground.usual')}
          min={0}
          max={draft.protocol === 'messages' ? 1 : 2}
          step={0.1}
          value={draft.temperature ?? ''}
          onChange={(value) => onChange({ temperature: numberOf(value) })}
        />
      </div>
      <div>
        <span className="playground-label">{t('playground.thinking')}</span>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t('playground.thinking')}
          data={AMOUNTS.map((value) => ({ value, label: t(`playground.thinkings.${value}`) }))}
          value={amount}
          onChange={(value) =>
            onChange({ thinkingTokens: value === 'usual' ? undefined : THINKING[value] })
          }
        />
      </div>
      <Switch
        label={t('playground.stream')}
        checked={draft.stream}
        onChange={({ currentTarget }) => onChange({ stream: currentTarget.checked })}
      />
    </>
  );
}

const SIZES = ['1:1', '16:9', '9:16', '4:3', '3:4', '21:9', '1024x1024', '1920x1080'] as const;
const QUALITIES = ['standard', 'medium', 'hd'] as const;

function ImageFields({ draft, onChange }: FieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="form-row">
        <Select
          label={t('playground.size')}
          placeholder={t('playground.sizes.usual')}
          data={[...SIZES]}
          value={draft.size === '' ? null : draft.size}
          clearable
          onChange={(size) => onChange({ size: size ?? '' })}
        />
        <Select
          label={t('playground.quality')}
          placeholder={t('playground.qualities.usual')}
          data={QUALITIES.map((value) => ({ value, label: t(`playground.qualities.${value}`) }))}
          value={draft.quality === '' ? null : draft.quality}
          clearable
          onChange={(quality) => onChange({ quality: quality ?? '' })}
        />
      </div>
      <NumberInput
        label={t('playground.count')}
        min={1}
        max={10}
        allowDecimal={false}
        value={draft.count}
        onChange={(value) => onChange({ count: typeof value === 'number' ? value : 1 })}
      />
    </>
  );
}
