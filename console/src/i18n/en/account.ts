// What the overview says of accounts.

export const account = {
  empty: 'No accounts yet',
  emptyHint:
    'An account is a sign-in or an API key at a model provider. Requests are distributed over all accounts you add; when one runs out of quota or fails, the next one takes over without the client noticing.',
  reasons: {
    'invalid-grant': 'Sign-in expired',
    forbidden: 'Rejected by the upstream',
    manual: 'Disabled manually',
    'standing-by': 'Sandbox account, on standby while you have other accounts',
    'no-upstream': 'Upstream no longer configured',
    verification: 'Verification required',
    'invalid-key': 'Key no longer valid',
    'refused-grant': 'Sign-in rejected',
    'refused-key': 'Key rejected',
  },
  waysOut: {
    'invalid-grant': 'Sign in to this account again.',
    forbidden:
      'Check at the upstream that the account may use the API and that its project is correct. Then enable it.',
    manual: 'Enable it to use it again.',
    'standing-by':
      'It becomes active again when the other accounts and upstreams are removed. Enable it to use it anyway.',
    'no-upstream':
      'Add its upstream again under the same ID in the settings, or remove the account.',
    verification:
      'Sign in to the account at the upstream and complete the verification. The gateway retries automatically; enable the account to retry now.',
    'invalid-key':
      'Give the account a new key. The gateway retries automatically from time to time; enable the account to retry now.',
    'refused-grant':
      'Sign in to this account again. The gateway retries automatically and disables the account after three rejections.',
    'refused-key':
      'Give the account a new key. The gateway retries automatically and disables the account after three rejections.',
  },
} as const;
