// The roles of people, and what they may not do.

export const roles = {
  names: { owner: 'Owner', operator: 'Operator', viewer: 'Viewer' },
  needed: 'Changes here need the role {{role}}.',
  banner: 'Signed in as {{role}}: you can look at everything but payloads, and change nothing.',
  bodiesHidden: 'Payloads were kept. Viewing them needs the role Operator.',
} as const;
