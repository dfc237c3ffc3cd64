// The kinds of names to choose from.

export const NAME_KINDS = [
  { value: 'vendor', text: 'shell.namesVendor' },
  { value: 'neutral', text: 'shell.namesNeutral' },
] as const;
