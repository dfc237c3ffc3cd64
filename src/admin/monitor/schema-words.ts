// Shapes that many of the monitor's have in common.

export const TEXT = { type: 'string' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const TIME = { type: 'number', description: 'Milliseconds since the epoch.' } as const;
