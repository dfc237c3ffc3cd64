// What a request of the playground is made of besides the message itself.

import { Autocomplete, SegmentedControl, Select, Switch, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { modelsQuery } from '../../api/queries/models.ts';
import { AmountInput } from '../../components/amount-input.tsx';
import { SecretInput } from '../../components/secret-input.tsx';
import type { WireProtocol } from '../../wire/wire-protocol.ts';
import { type Draft, THINKING_TOKENS } from '../../wire/write-request.ts';
import { type AmountField, rangeOf, type TypedAmounts, textOf } from './draft-amounts.ts';
import '../../components/form.css';

const PROTOCOLS: readonly WireProtocol[] = ['chat', 'messages', 'generate', 'responses', 'images'];

export interface DraftFormProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly typed: TypedAmounts;
  readonly onType: (field: AmountField, text: string) => void;
  /** As they were typed. */
  readonly tools: string;
  readonly areToolsBad: boolean;
  readonly onTools: (tools: string) => void;
  /** The model that answers beside the first; undefined where there is none. */
  readonly other: string | undefined;
  readonly onOther: (model: string | undefined) => void;
  readonly accessKey: string;
  readonly onAccessKey: (key: string) => void;
}

export function DraftForm(props: DraftFormProps) {
  const { draft, onDraft, typed, onType, accessKey, onAccessKey, other, onOther } = props;
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
        data={PROTOCOLS.map((value) => ({ value, label: t(`protocols.${value}`) }))}
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
      <Switch
        label={t('playground.compare')}
        checked={other !== undefined}
        onChange={({ currentTarget }) => onOther(currentTarget.checked ? '' : undefined)}
      />
      {other !== undefined && (
        <Autocomplete
          label={t('playground.otherModel')}
          placeholder={t('playground.modelHint')}
          data={[...new Set(names)]}
          limit={60}
          value={other}
          onChange={onOther}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {isImage ? (
        <ImageFields draft={draft} onChange={change} typed={typed} onType={onType} />
      ) : (
        <>
          <TextFields draft={draft} onChange={change} typed={typed} onType={onType} />
          <Textarea
            label={t('playground.tools')}
            description={t('playground.toolsHint')}
            autosize
            minRows={2}
            maxRows={10}
            classNames={{ input: 'mono' }}
            spellCheck={false}
            error={props.areToolsBad ? t('playground.badTools') : undefined}
            value={props.tools}
            onChange={({ currentTarget }) => props.onTools(currentTarget.value)}
          />
        </>
      )}
      <SecretInput
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

interface FieldsProps extends AmountsProps {
  readonly onChange: (part: Partial<Draft>) => void;
}

interface AmountsProps {
  readonly draft: Draft;
  readonly typed: TypedAmounts;
  readonly onType: (field: AmountField, text: string) => void;
}

function DraftAmount({
  field,
  draft,
  typed,
  onType,
}: AmountsProps & { readonly field: AmountField }) {
  const { t } = useTranslation();
  return (
    <AmountInput
      label={t(`playground.${field}`)}
      {...(field === 'count' ? {} : { placeholder: t('playground.usual') })}
      range={rangeOf(field, draft.protocol)}
      value={textOf(field, draft, typed)}
      onChange={(text) => onType(field, text)}
    />
  );
}

const AMOUNTS = ['usual', 'low', 'medium', 'high'] as const;

function TextFields({ draft, onChange, typed, onType }: FieldsProps) {
  const { t } = useTranslation();
  const amount =
    AMOUNTS.find((one) => one !== 'usual' && THINKING_TOKENS[one] === draft.thinkingTokens) ??
    'usual';
  const amounts = { draft, typed, onType };
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
        <DraftAmount field="maxTokens" {...amounts} />
        <DraftAmount field="temperature" {...amounts} />
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
            onChange({ thinkingTokens: value === 'usual' ? undefined : THINKING_TOKENS[value] })
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

function ImageFields({ draft, onChange, typed, onType }: FieldsProps) {
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
      <DraftAmount field="count" draft={draft} typed={typed} onType={onType} />
    </>
  );
}
