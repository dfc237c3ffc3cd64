// The shape of `upstreams` in `gui_config.json`: one section an upstream, by an id of the operator's choice.

const TEXT = { type: 'string', minLength: 1 } as const;

const OAUTH_SCHEMA = {
  type: 'object',
  description: 'Your own OAuth client at the provider, for accounts that sign in.',
  required: ['client_id'],
  properties: {
    client_id: { ...TEXT, description: 'Its id.' },
    client_secret: {
      ...TEXT,
      description: 'Its secret, plain or sealed (`sealed:v1:…`); absent for public clients.',
    },
    authorization_url: {
      ...TEXT,
      description:
        'Where people sign in. The profiles `gemini-api` and `vertex` know this and the next three addresses.',
    },
    token_url: { ...TEXT, description: 'Where codes and refresh tokens are traded.' },
    revocation_url: { ...TEXT, description: 'Where the token of a removed account is revoked.' },
    userinfo_url: { ...TEXT, description: 'Where the e-mail address of an account is read.' },
    issuer: { ...TEXT, description: 'The only issuer that sign-ins may come back from.' },
    scopes: {
      type: 'array',
      items: TEXT,
      minItems: 1,
      description:
        'What is asked for; with the profiles `gemini-api` and `vertex`: `openid`, `email` and the cloud platform.',
    },
    redirect_url: {
      ...TEXT,
      description:
        "Address registered at the provider, where sign-ins come back to; without one this gateway's own loopback address.",
    },
    extra_parameters: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'More query parameters of the sign-in page.',
    },
  },
} as const;

const LIMIT_SCHEMA = {
  type: 'object',
  required: ['requests', 'window_minutes'],
  properties: {
    requests: {
      type: 'integer',
      minimum: 1,
      description: 'Requests of one account to this model that one window allows.',
    },
    window_minutes: { type: 'integer', minimum: 1, description: 'Length of the window.' },
  },
} as const;

const UPSTREAM_SCHEMA = {
  type: 'object',
  required: ['profile'],
  properties: {
    profile: {
      enum: ['sandbox', 'generic', 'gemini-api', 'vertex'],
      description: 'How the upstream is reached.',
    },
    base_url: { ...TEXT, description: "Its address; without one the profile's own." },
    vocabulary: {
      enum: ['real', 'neutral'],
      description: 'Words a `generic` upstream takes; `neutral` when absent.',
    },
    auth: {
      enum: ['bearer', 'header', 'query'],
      description: 'How a key travels to a `generic` upstream; `bearer` when absent.',
    },
    location: {
      ...TEXT,
      description: 'Region of a `vertex` upstream, such as `us-central1`; `global` when absent.',
    },
    quota_path: {
      ...TEXT,
      description:
        'Path below the address of a `generic` upstream that answers with quota figures; `/v1beta/quota` ' +
        'when absent. An upstream without it is asked once an hour.',
    },
    limits: {
      type: 'object',
      additionalProperties: LIMIT_SCHEMA,
      description:
        'Limits by model id, from which quotas are estimated where the upstream reports none.',
    },
    oauth: OAUTH_SCHEMA,
  },
} as const;

export const UPSTREAMS_SCHEMA = {
  type: 'object',
  description: 'Upstreams by id. An id that is the name of a profile must be of that profile.',
  additionalProperties: UPSTREAM_SCHEMA,
} as const;
