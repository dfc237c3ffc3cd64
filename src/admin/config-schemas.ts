// What `/api/config` takes and answers, as schemas.

export const SECTION_SCHEMA = {
  title: 'ConfigSection',
  type: 'object',
  required: ['section', 'title', 'revision', 'values', 'overrides'],
  additionalProperties: false,
  properties: {
    section: { type: 'string' },
    title: { type: 'string' },
    revision: { type: 'string', description: 'For `If-Match`.' },
    values: {
      type: 'object',
      description:
        'What the config file says, in its own words; absent keys have their defaults, and ' +
        'environment and flags win. A secret is shown as `{"isSet": true}`.',
    },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'Of a change that was made: what of it will not work as things are now.',
    },
    overrides: {
      type: 'object',
      description: 'Key path → what wins over the file there, until the next start.',
      additionalProperties: {
        type: 'object',
        required: ['origin', 'name'],
        additionalProperties: false,
        properties: {
          origin: { enum: ['flag', 'environment'] },
          name: { type: 'string', description: '`--port` or `PORT`.' },
          value: { description: 'What holds instead; absent for secrets.' },
        },
      },
    },
  },
} as const;

export const SECTIONS_SCHEMA = {
  title: 'Config',
  type: 'object',
  required: ['sections'],
  additionalProperties: false,
  properties: { sections: { type: 'array', items: SECTION_SCHEMA } },
} as const;

export const PATCH_SCHEMA = {
  type: 'object',
  description:
    'A merge patch (RFC 7396) of the values: null removes a key, what is absent stays. A secret ' +
    'sent as it was shown stays too. A key that is no setting is refused unless the file holds it already.',
} as const;

export const PRESETS_SCHEMA = {
  title: 'Presets',
  type: 'object',
  required: ['presets'],
  additionalProperties: false,
  properties: {
    presets: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'description', 'mapping'],
        additionalProperties: false,
        properties: {
          name: { type: 'string' },
          description: { type: 'string' },
          mapping: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  },
} as const;
