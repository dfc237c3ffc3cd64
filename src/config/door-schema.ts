// The shape of `proxy.ip_filter` and `proxy.console` in `gui_config.json`.

export const IP_FILTER_SCHEMA = {
  type: 'object',
  description: 'Who is let in by address; the rules themselves stand in the database.',
  properties: {
    enabled: { type: 'boolean', default: false, description: 'Enables the address filter.' },
    default: {
      enum: ['allow', 'deny'],
      default: 'allow',
      description: 'What becomes of an address that no rule covers.',
    },
    allow_beats_deny: {
      type: 'boolean',
      default: false,
      description: 'Lets an allow rule win over a deny rule; otherwise deny wins.',
    },
  },
} as const;

export const CONSOLE_SCHEMA = {
  type: 'object',
  description: 'Signing in to the web console.',
  properties: {
    session_idle_hours: {
      type: 'number',
      minimum: 0.1,
      maximum: 168,
      default: 12,
      description: 'How long an idle browser stays signed in; a week is the most in any case.',
    },
    sign_in_link: {
      type: 'boolean',
      default: true,
      description: 'Prints a link at the start that signs a browser of this machine in once.',
    },
  },
} as const;
