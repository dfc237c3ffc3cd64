// The roles of people, and what they may not do.

export const roles = {
  names: { owner: 'Owner', operator: 'Operator', viewer: 'Viewer' },
  needed: 'Changes here require the role {{role}}.',
  banner: 'Signed in as {{role}}: you can see everything but payloads, and change nothing.',
} as const;
