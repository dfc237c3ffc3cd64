// Reads and writes single values of a section of the settings.

import type { ConfigSection, SettingOverride } from '../../../src/admin/contract.ts';
import type { SectionPatch } from '../api/queries/config.ts';

export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return undefined;
    value = Object.entries(value).find(([name]) => name === step)?.[1];
  }
  return value;
}

/** What wins over the file at a place of a section. */
export function findOverride(
  section: ConfigSection | undefined,
  path: readonly string[],
): SettingOverride | undefined {
  const key = path.join('.');
  return Object.entries(section?.overrides ?? {}).find(([name]) => name === key)?.[1];
}

/** The merge patch that sets one value. */
export function patchOf(path: readonly string[], value: unknown): SectionPatch {
  return path.reduceRight<Record<string, unknown>>((inner, step, index) => {
    return { [step]: index === path.length - 1 ? value : inner };
  }, {});
}

/** Secrets are shown as whether they are set; one that is being saved is a text. */
export function isSecretSet(value: unknown): boolean {
  return typeof value === 'string' || valueAt(value, ['isSet']) === true;
}

export function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
