// What the pattern of a route is called in records.

import { remember } from '../lib/once.ts';

/** `/v1/models/{model}:generateContent` → `generateContent`, `/v1/chat/completions` → `chat/completions`. */
export const surfaceOf: (route: string) => string = remember(256, (route) =>
  route.replace(/^\/v1(?:alpha|beta)?\//, '').replace(/^models\/\{model\}[:/]/, ''),
);
