// The models the mock upstream plays: real names, so that routing and thinking rules apply as usual.

/** How an answer is sent: a stream's events at once, or one every `paceMs` milliseconds. */
export interface PlayedModel {
  readonly name: string;
  readonly paceMs: number;
}

export const EVENTS_PER_STREAM = 50;

export const BURST: PlayedModel = { name: 'gemini-3-flash-preview', paceMs: 0 };
export const PACED: PlayedModel = { name: 'gemini-3.1-pro-preview', paceMs: 50 };
export const SLOW: PlayedModel = { name: 'gemini-2.5-pro', paceMs: 100 };

/** Of the upstreams of the other wires. */
export const OTHER_BURST: PlayedModel = { name: 'claude-sonnet-4-5', paceMs: 0 };
export const OTHER_PACED: PlayedModel = { name: 'claude-opus-4-5', paceMs: 50 };
const OTHER_MODELS: readonly PlayedModel[] = [OTHER_BURST, OTHER_PACED];

export const PLAYED_MODELS: readonly PlayedModel[] = [BURST, PACED, SLOW, ...OTHER_MODELS];
