// The sign-in page.

export const signIn = {
  title: 'Sign in to the console',
  password: 'Password',
  submit: 'Sign in',
  hint: 'The console password is WEB_PASSWORD where that is set, else admin_password of the config file, else the API key.',
  linkHint: 'On this machine the gateway prints a one-time sign-in link when it starts.',
  wrong: 'That is not the console password.',
  tooMany_one: 'Too many tries. Wait {{count}} second, then try again.',
  tooMany_other: 'Too many tries. Wait {{count}} seconds, then try again.',
} as const;
