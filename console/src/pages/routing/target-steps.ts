// Targets of several models: what the config file says of them, and the changes that a person makes to their steps.

import { type AmountRange, isGoodAmount } from '../../components/read-amount.ts';

export interface TargetModel {
  /** A model, or `upstream/model`. */
  readonly to: string;
  /** Among the models of its step. */
  readonly weight: number;
}

export type TargetSteps = readonly (readonly TargetModel[])[];

export type Target = readonly [name: string, steps: TargetSteps];

/** Above none, as the gateway takes it. */
export const WEIGHT: AmountRange = { least: 0.01, most: 1000, isWhole: false, isNeeded: true };
/** Steps, and models of one. */
export const MOST = 16;

const byName = new Intl.Collator(undefined, { numeric: true });

export function readTargets(values: object): readonly Target[] {
  return Object.entries(values)
    .map(([name, value]): Target => [name, listOf(value, 'steps').map(readStep)])
    .sort(([left], [right]) => byName.compare(left, right));
}

function readStep(step: unknown): readonly TargetModel[] {
  return (Array.isArray(step) ? step : []).flatMap((entry: unknown) => {
    if (typeof entry === 'string') return [{ to: entry, weight: 1 }];
    const to = fieldOf(entry, 'to');
    const weight = fieldOf(entry, 'weight');
    return typeof to === 'string' ? [{ to, weight: typeof weight === 'number' ? weight : 1 }] : [];
  });
}

/** As the config file has it; null for one without any model, which is none. */
export function writeSteps(steps: TargetSteps): object | null {
  const kept = steps.filter((step) => step.length > 0);
  if (kept.length === 0) return null;
  return {
    steps: kept.map((step) => step.map(({ to, weight }) => (weight === 1 ? to : { to, weight }))),
  };
}

export function withModel(steps: TargetSteps, place: number, model: TargetModel): TargetSteps {
  if (place >= steps.length) return [...steps, [model]];
  return steps.map((step, index) => (index === place ? [...step, model] : step));
}

export function changeModel(
  steps: TargetSteps,
  [place, inner]: readonly [step: number, model: number],
  change: Partial<TargetModel> | null,
): TargetSteps {
  return steps.map((step, index) =>
    index !== place
      ? step
      : step.flatMap((model, at) => {
          if (at !== inner) return [model];
          return change === null ? [] : [{ ...model, ...change }];
        }),
  );
}

/** @param by -1 for earlier, 1 for later */
export function moveStep(steps: TargetSteps, place: number, by: -1 | 1): TargetSteps {
  const moved = [...steps];
  const [step] = moved.splice(place, 1);
  if (step !== undefined) moved.splice(place + by, 0, step);
  return moved;
}

export const isGoodWeight = (text: string): boolean => isGoodAmount(text, WEIGHT);

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
