// The sign-in page.

export const signIn = {
  title: 'Sign in to the console',
  password: 'Password',
  submit: 'Sign in',
  hint: 'The console password is WEB_PASSWORD where that is set, else admin_password of the config file, else the API key.',
  linkHint: 'On this machine the gateway prints a one-time sign-in link when it starts.',
  elsewhereTitle: 'This console opens only beside its gateway',
  elsewhere:
    'It has no password yet, so it lets in nobody but the machine it runs on. To use it from here, set WEB_PASSWORD or admin_password there, or a gateway key.',
  elsewhereProxy: 'A proxy on that machine counts as elsewhere, too.',
  againTitle: 'Your password once more',
  againHint:
    'This decides who may come in or where credentials go. Being signed in is not enough for it, so that a browser left open gives nothing away.',
  again: 'Go on',
  wrong: 'That is not the console password.',
  tooMany_one: 'Too many tries. Wait {{count}} second, then try again.',
  tooMany_other: 'Too many tries. Wait {{count}} seconds, then try again.',
} as const;
