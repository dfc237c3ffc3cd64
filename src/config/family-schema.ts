// The shape of `proxy.families` in `gui_config.json`.

import type { XStatic } from 'typebox/schema';

const PREFERRED = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: 256 },
  default: [],
  description:
    'Model ids, or patterns with `*`, to use for the family, best first; the newest version where an account offers none of them.',
} as const;

export const FAMILIES_SCHEMA = {
  type: 'object',
  description: 'Which of the models that an account offers serve the names of a family.',
  properties: {
    pro: PREFERRED,
    flash: PREFERRED,
    'flash-lite': PREFERRED,
    image: PREFERRED,
    embedding: PREFERRED,
    opus: PREFERRED,
    sonnet: PREFERRED,
    haiku: PREFERRED,
  },
} as const;

/** The families of models that well-known names go to. */
export type ModelFamily = keyof typeof FAMILIES_SCHEMA.properties;

/** What the operator prefers in a family. */
export type FamiliesSettings = XStatic<typeof FAMILIES_SCHEMA>;
