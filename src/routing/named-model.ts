// Finds the model a name stands for by itself: catalogue, offers, the other vocabulary, aliases.

import type { ModelVariant } from '../canonical/model.ts';
import { neutralModelName, realModelName } from '../wire/vocabulary.ts';
import { EXACT_ALIASES, findPatternAlias } from './aliases.ts';
import { findCatalogModel, type ImpliedReasoning } from './catalog.ts';
import type { RouteStep } from './route-step.ts';

export interface NamedModel {
  readonly target: string;
  readonly implies: ImpliedReasoning;
  /** How it was found. */
  readonly step: RouteStep;
  /** Another catalogue model that fits what the name asked for better. */
  siblingFor(variant: ModelVariant): SiblingModel | undefined;
}

export interface SiblingModel {
  readonly target: string;
  readonly implies: ImpliedReasoning;
}

/** Catalogue ids, then what accounts offer, then the name's twin in the other vocabulary. */
export function findKnown(
  name: string,
  offered: Pick<ReadonlySet<string>, 'has'>,
): NamedModel | undefined {
  const lower = name.toLowerCase();
  for (const spelling of new Set([name, lower])) {
    if (findCatalogModel(spelling))
      return catalogModel({ kind: 'catalogue', name, target: spelling });
    if (offered.has(spelling)) return offeredModel({ kind: 'offered', name, target: spelling });
  }
  const alias = EXACT_ALIASES.get(lower);
  if (alias !== undefined) return catalogModel({ kind: 'own-name', name: lower, target: alias });
  for (const twin of [realModelName(lower), neutralModelName(lower)]) {
    if (offered.has(twin)) return offeredModel({ kind: 'offered-twin', name, target: twin });
  }
  return undefined;
}

/** Well-known names of other models. */
export function findAlias(name: string): NamedModel | undefined {
  if (hasUnreadImageSuffix(name)) return undefined;
  const hit = findPatternAlias(name);
  return hit && catalogModel({ kind: 'alias', name, target: hit.target, detail: hit.alias });
}

function catalogModel(step: RouteStep): NamedModel {
  const id = step.target;
  return {
    target: id,
    implies: findCatalogModel(id)?.implies ?? {},
    step,
    siblingFor: (variant) => siblingOf(id, variant),
  };
}

function offeredModel(step: RouteStep): NamedModel {
  return { target: step.target, implies: {}, step, siblingFor: () => undefined };
}

/** `-low` of a model that has a low sibling, thinking of one that has a thinking sibling. */
function siblingOf(id: string, { effort, thinking }: ModelVariant): SiblingModel | undefined {
  const isSilent = findCatalogModel(id)?.supportsThinking === false;
  const wantsSibling = thinking === 'on' || (effort !== undefined && isSilent);
  const candidates = [
    effort === undefined ? undefined : id.replace(/-(high|low)$/, `-${effort}`),
    wantsSibling ? `${id}-thinking` : undefined,
  ];
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === id) continue;
    const sibling = findCatalogModel(candidate);
    if (sibling !== undefined) return { target: candidate, implies: sibling.implies };
  }
  return undefined;
}

/**
 * Releases are called `-preview`, `-latest`, `-002`, `-1-2025-05-01`; anything else after `image` was meant
 * for us, also two short numbers: they are a ratio nobody draws. Behind a model of ours one is half of a
 * ratio.
 */
function hasUnreadImageSuffix(name: string): boolean {
  const [, model = '', rest] = /^((?:.*?-)?image)-(.*)$/i.exec(name) ?? [];
  if (rest === undefined) return false;
  if (/^\d{1,2}(?:-|$)/.test(rest) && !/^\d\d-\d{4}/.test(rest) && isOwnName(model)) return true;
  const release =
    /^(?:(?:preview|latest|exp|mini|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d+(?:\.\d+)*(?!-\d\d?(?:-|$)))(?:-|$))+$/i;
  return !release.test(rest);
}

function isOwnName(name: string): boolean {
  const lower = name.toLowerCase();
  return findCatalogModel(lower) !== undefined || EXACT_ALIASES.has(lower);
}
