// The shape of `proxy.monitor` in `gui_config.json`.

export const MONITOR_SCHEMA = {
  type: 'object',
  description: 'The records of model requests.',
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Keeps a record of each request.' },
    bodies: {
      type: 'boolean',
      default: false,
      description:
        'Keeps what was asked and answered, up to 256 KB each, without credentials; prompts are then stored.',
    },
    retention_days: {
      type: 'number',
      minimum: 0.01,
      maximum: 365,
      default: 7,
      description: 'Records leave when they are older; sums of usage stay for a year.',
    },
    max_bytes: {
      type: 'integer',
      minimum: 1_048_576,
      maximum: 1_099_511_627_776,
      default: 1_073_741_824,
      description: 'When the records take more, the oldest leave until half of it is taken.',
    },
  },
} as const;
