// The editor of targets: steps of models that entries of the mapping go to as @name. Every change acts at once.

import { ActionIcon, Button, Skeleton, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconPlus, IconX } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AmountInput } from '../../components/amount-input.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { takeAmount } from '../../components/read-amount.ts';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import { ModelInput } from './model-input.tsx';
import {
  changeModel,
  isGoodWeight,
  MOST,
  moveStep,
  readTargets,
  type Target,
  type TargetModel,
  type TargetSteps,
  WEIGHT,
  withModel,
  writeSteps,
} from './target-steps.ts';
import { type NamedEntries, useEntries } from './use-mapping.ts';

type Targets = NamedEntries<readonly Target[]>;

export function TargetsPanel({ onTry }: { readonly onTry: (name: string) => void }) {
  const { t } = useTranslation();
  const targets: Targets = useEntries('targets', readTargets);
  const { entries, isLoading, error } = targets;
  return (
    <Panel isFlush title={t('targets.title')} hint={t('targets.hint')}>
      <NewTarget targets={targets} />
      {isLoading && <Skeleton height={120} m="md" w="auto" />}
      {error !== null && <ErrorNote error={error} onRetry={targets.reload} />}
      <ul className="entries">
        {entries.map(([name, steps]) => (
          <TargetItem key={name} name={name} steps={steps} targets={targets} onTry={onTry} />
        ))}
      </ul>
    </Panel>
  );
}

const NAME = /^[\w.-]{1,64}$/;

function NewTarget({ targets }: { readonly targets: Targets }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [model, setModel] = useState('');
  const [isTried, setTried] = useState(false);
  useUnsaved(name !== '' || model !== '');
  const trimmed = name.trim().replace(/^@/, '');
  const nameProblem = NAME.test(trimmed)
    ? targets.entries.some(([known]) => known === trimmed)
      ? t('targets.nameTaken')
      : undefined
    : t('targets.nameBad');
  const modelProblem = useModelProblem()(model);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (nameProblem !== undefined || modelProblem !== undefined) return;
    const steps = [[{ to: model.trim(), weight: 1 }]];
    targets.change({ [trimmed]: writeSteps(steps) }, t('targets.added', { name: trimmed }), () => {
      setName((now) => now || name);
      setModel((now) => now || model);
    });
    setName('');
    setModel('');
    setTried(false);
  };
  return (
    <form className="entry entry-new target-new" onSubmit={submit} aria-label={t('targets.add')}>
      <TextInput
        className="mono-field"
        aria-label={t('targets.name')}
        placeholder={t('targets.name')}
        leftSection="@"
        spellCheck={false}
        autoComplete="off"
        value={name}
        error={isTried || trimmed !== '' ? nameProblem : undefined}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <ModelInput
        label={t('targets.firstModel')}
        placeholder={t('targets.firstModel')}
        value={model}
        error={isTried ? modelProblem : undefined}
        onChange={setModel}
      />
      <Button
        type="submit"
        variant="default"
        disabled={targets.isLoading || targets.error !== null}
        leftSection={<IconPlus size={16} />}
        aria-label={t('targets.add')}
      >
        {t('common.add')}
      </Button>
    </form>
  );
}

/** Undefined for what can be a model of a step. */
function useModelProblem(): (model: string) => string | undefined {
  const { t } = useTranslation();
  return (model) => {
    const text = model.trim();
    if (text === '') return t('routing.targetMissing');
    return text.startsWith('@') || text.includes('*') ? t('targets.modelBad') : undefined;
  };
}

interface TargetItemProps {
  readonly name: string;
  readonly steps: TargetSteps;
  readonly targets: Targets;
  readonly onTry: (name: string) => void;
}

function TargetItem({ name, steps, targets, onTry }: TargetItemProps) {
  const { t } = useTranslation();
  const save = (next: TargetSteps, onRefused?: () => void): void =>
    targets.change({ [name]: writeSteps(next) }, t('targets.changed', { name }), onRefused);
  return (
    <li className="target">
      <div className="target-head">
        <button
          type="button"
          className="entry-name mono"
          title={t('routing.whereTitle')}
          onClick={() => onTry(`@${name}`)}
        >
          <span className="wrap-anywhere">@{name}</span>
        </button>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('targets.remove', { name })}
          onClick={() => targets.change({ [name]: null }, t('targets.removed', { name }))}
        >
          <IconX size={16} />
        </ActionIcon>
      </div>
      <ol className="target-steps">
        {steps.map((step, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has no name but its place
          <Step key={place} {...{ name, step, place, steps, save }} />
        ))}
      </ol>
      {steps.length < MOST && (
        <AddModel
          label={t('targets.addStep', { name })}
          placeholder={t('targets.addStepHere')}
          onAdd={(model) => save(withModel(steps, steps.length, model))}
        />
      )}
    </li>
  );
}

interface StepProps {
  readonly name: string;
  readonly step: readonly TargetModel[];
  readonly place: number;
  readonly steps: TargetSteps;
  readonly save: (steps: TargetSteps, onRefused?: () => void) => void;
}

function Step({ name, step, place, steps, save }: StepProps) {
  const { t } = useTranslation();
  const number = place + 1;
  return (
    <li>
      <div className="target-step-head">
        <span className="dimmed small">{t('targets.step', { number })}</span>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          disabled={place === 0}
          aria-label={t('targets.earlier', { number, name })}
          onClick={() => save(moveStep(steps, place, -1))}
        >
          <IconArrowUp size={14} />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          disabled={number === steps.length}
          aria-label={t('targets.later', { number, name })}
          onClick={() => save(moveStep(steps, place, 1))}
        >
          <IconArrowDown size={14} />
        </ActionIcon>
      </div>
      {step.map((model, inner) => (
        <ModelRow
          // biome-ignore lint/suspicious/noArrayIndexKey: the same model may stand in a step twice
          key={`${inner} ${model.to}`}
          model={model}
          hasWeight={step.length > 1}
          onChange={(change) => save(changeModel(steps, [place, inner], change))}
        />
      ))}
      {step.length < MOST && (
        <AddModel
          label={t('targets.addModel', { number, name })}
          placeholder={t('targets.addModelHere')}
          onAdd={(model) => save(withModel(steps, place, model))}
        />
      )}
    </li>
  );
}

interface ModelRowProps {
  readonly model: TargetModel;
  readonly hasWeight: boolean;
  readonly onChange: (change: Partial<TargetModel> | null) => void;
}

function ModelRow({ model: { to, weight }, hasWeight, onChange }: ModelRowProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<string>();
  const [weightText, setWeightText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const findProblem = useModelProblem();
  const commit = (chosen: string): void => {
    const text = chosen.trim();
    const found = findProblem(text);
    setProblem(found);
    if (found !== undefined) return;
    setDraft(undefined);
    if (text !== to) onChange({ to: text });
  };
  const commitWeight = (): void => {
    const typed = weightText ?? '';
    if (weightText === undefined || !isGoodWeight(typed)) return;
    setWeightText(undefined);
    const next = takeAmount(typed, WEIGHT);
    if (next !== undefined && next !== weight) onChange({ weight: next });
  };
  return (
    <div className="target-model">
      <ModelInput
        label={t('targets.model', { model: to })}
        value={draft ?? to}
        error={problem}
        onChange={setDraft}
        onCommit={commit}
        onCancel={() => {
          setDraft(undefined);
          setProblem(undefined);
        }}
      />
      {hasWeight && (
        <div className="target-weight">
          <AmountInput
            range={WEIGHT}
            value={weightText ?? String(weight)}
            onChange={setWeightText}
            onCommit={commitWeight}
            label={t('targets.weight', { model: to })}
          />
        </div>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('targets.removeModel', { model: to })}
        onClick={() => onChange(null)}
      >
        <IconX size={16} />
      </ActionIcon>
    </div>
  );
}

interface AddModelProps {
  readonly label: string;
  readonly placeholder: string;
  readonly onAdd: (model: TargetModel) => void;
}

function AddModel({ label, placeholder, onAdd }: AddModelProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const findProblem = useModelProblem();
  const commit = (chosen: string): void => {
    const to = chosen.trim();
    const found = to === '' ? undefined : findProblem(to);
    setProblem(found);
    if (to === '' || found !== undefined) return;
    setText('');
    onAdd({ to, weight: 1 });
  };
  return (
    <div className="target-add">
      <ModelInput
        label={label}
        placeholder={placeholder}
        value={text}
        error={problem}
        onChange={setText}
        onCommit={commit}
        onCancel={() => setText('')}
      />
    </div>
  );
}
