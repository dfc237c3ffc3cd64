// The sign-in page.

export const signIn = {
  title: 'Sign in to the console',
  password: 'Password',
  name: 'Name',
  nameHint: 'Leave empty to use the console password.',
  wrongName: 'Wrong name or password.',
  wrongAgain: 'Wrong password.',
  submit: 'Sign in',
  provider: 'Sign in with {{label}}',
  hint: 'The console password is WEB_PASSWORD if set, then admin_password of the config file, then the API key.',
  linkHint: 'On this machine the gateway prints a one-time sign-in link at startup.',
  elsewhereTitle: 'This console is available only on the machine of its gateway',
  elsewhere:
    'It has no password yet, so only that machine can open it. To use it from here, set WEB_PASSWORD, admin_password or a gateway key there.',
  elsewhereProxy: 'Requests through a proxy on that machine are treated as remote, too.',
  againTitle: 'Confirm your password',
  againHint:
    'This change affects who has access or where credentials are sent, so it requires the password in addition to your session.',
  again: 'Continue',
  wrong: 'Wrong console password.',
  tooMany_one: 'Too many attempts. Wait {{count}} second, then try again.',
  tooMany_other: 'Too many attempts. Wait {{count}} seconds, then try again.',
} as const;
