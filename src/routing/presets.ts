// The three built-in mappings an operator may start from, as data.

type PresetName = 'default' | 'performance' | 'cost-effective';

export interface Preset {
  readonly name: PresetName;
  readonly description: string;
  /** Name patterns → target model, in the form of `custom_mapping`. */
  readonly mapping: Readonly<Record<string, string>>;
}

export const PRESETS: readonly Preset[] = [
  {
    name: 'default',
    description: 'Foreign names go to the model nearest in strength.',
    mapping: {
      'gpt-3.5*': 'alpha-3-flash',
      'gpt-4*': 'alpha-3-pro-low',
      'gpt-5*': 'alpha-3-pro-high',
      'gpt-*-mini*': 'alpha-3-flash',
      'gpt-*-nano*': 'alpha-3-flash',
      'o1*': 'alpha-3-pro-high',
      'o3*': 'alpha-3-pro-high',
      'o4*': 'alpha-3-pro-high',
      'codex-*': 'alpha-3-pro-high',
      'claude-3*sonnet*': 'beta-sonnet-4-6',
      'claude-3*opus*': 'beta-opus-4-6-thinking',
      'claude-*haiku*': 'alpha-3-flash',
    },
  },
  {
    name: 'performance',
    description: 'Every known family goes to its strongest model.',
    mapping: {
      'gpt-*': 'alpha-3-pro-high',
      'o1*': 'alpha-3-pro-high',
      'o3*': 'alpha-3-pro-high',
      'o4*': 'alpha-3-pro-high',
      'codex-*': 'alpha-3-pro-high',
      'claude-*opus*': 'beta-opus-4-6-thinking',
      'claude-*sonnet*': 'beta-sonnet-4-6-thinking',
      'claude-*haiku*': 'beta-sonnet-4-6',
    },
  },
  {
    name: 'cost-effective',
    description: 'Every known family goes to its cheapest model that still does the work.',
    mapping: {
      'gpt-*': 'alpha-3-flash',
      'o1*': 'alpha-3-pro-low',
      'o3*': 'alpha-3-pro-low',
      'o4*': 'alpha-3-pro-low',
      'codex-*': 'alpha-3-pro-low',
      'claude-*opus*': 'beta-sonnet-4-6-thinking',
      'claude-*sonnet*': 'beta-sonnet-4-6',
      'claude-*haiku*': 'alpha-3-flash',
    },
  },
];

type Entries = Readonly<Record<string, string>>;

/**
 * What applying a preset changes: its own entries, and those that another preset brought go (null).
 * An entry of another name or target is the operator's own and stays.
 */
export function presetPatch(mapping: Entries, preset: Preset): Record<string, string | null> {
  const others = PRESETS.filter(({ name }) => name !== preset.name);
  const brought = Object.entries(mapping).filter(([name, target]) =>
    others.some((other) => Object.hasOwn(other.mapping, name) && other.mapping[name] === target),
  );
  return { ...Object.fromEntries(brought.map(([name]) => [name, null])), ...preset.mapping };
}
