// The view of long texts.

export const textView = {
  search: 'Find',
  searchIn: 'Find in {{name}}',
  wrap: 'Wrap lines',
  unwrap: 'Do not wrap lines',
  copy: 'Copy {{name}}',
  noMatch: 'not found',
  matchOf: '{{current}} of {{total}}',
  previous: 'Previous match',
  next: 'Next match',
} as const;
