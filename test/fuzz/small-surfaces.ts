// Bodies of the surfaces that have few fields: text completions, pictures, embeddings.

import type { JsonObject } from '../../src/lib/json.ts';
import type { RequestCase } from '../golden/request-case.ts';

export const SMALL_SURFACES = ['completions', 'images', 'edits', 'embeddings'] as const;
export type SmallSurface = (typeof SMALL_SURFACES)[number];

const MODEL = 'alpha-3-flash';
const PAINTER = 'alpha-3-pro-image';
const EMBEDDER = 'alpha-embedding-001';
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const BODIES: Readonly<Record<SmallSurface, { path: string; bodies: readonly JsonObject[] }>> = {
  completions: {
    path: '/v1/completions',
    bodies: [
      { model: MODEL, prompt: 'Hi' },
      { model: MODEL, prompt: ['one', 'two'], n: 2, echo: true, max_tokens: 20 },
      { model: MODEL, prompt: 'def f(', suffix: '  return 1', stop: ['\n'], temperature: 0.2 },
      { model: MODEL, prompt: [[1, 2, 3]], logprobs: 3, seed: 1 },
      {
        ...{ model: MODEL, prompt: 'x', stream: true, stream_options: { include_usage: true } },
        ...{ top_p: 0.9, presence_penalty: 1, frequency_penalty: -1, user: 'u', best_of: 1 },
      },
    ],
  },
  images: {
    path: '/v1/images/generations',
    bodies: [
      { model: PAINTER, prompt: 'a lighthouse' },
      { model: PAINTER, prompt: 'x', n: 3, size: '1792x1024', quality: 'hd', style: 'vivid' },
      { model: `${PAINTER}-16x9-4k`, prompt: 'x', response_format: 'url', imageSize: '2K' },
      {
        ...{ model: PAINTER, prompt: 'x', size: '16:9', stream: true, partial_images: 2 },
        ...{ background: 'auto', moderation: 'low', output_format: 'png', user: 'u' },
      },
    ],
  },
  edits: {
    path: '/v1/images/edits',
    bodies: [
      { model: PAINTER, prompt: 'more red', images: [{ image_url: PIXEL }] },
      {
        ...{ model: PAINTER, prompt: 'x', images: [{ image_url: PIXEL }, { image_url: PIXEL }] },
        ...{ mask: { image_url: PIXEL }, n: 2, size: '1024x1024', input_fidelity: 'high' },
      },
    ],
  },
  embeddings: {
    path: '/v1/embeddings',
    bodies: [
      { model: EMBEDDER, input: 'Hi' },
      { model: EMBEDDER, input: ['a', 'b'], dimensions: 256, encoding_format: 'base64', user: 'u' },
      { model: EMBEDDER, input: [[1, 2], [3]] },
      { model: 'text-embedding-3-small', input: 'x', encoding_format: 'float' },
    ],
  },
};

export function smallCases(surface: SmallSurface): readonly RequestCase[] {
  const { path, bodies } = BODIES[surface];
  return bodies.map((body, index) => ({ name: `${surface} ${index}`, path, body }));
}
