// Code with its syntax in colours, as soon as what finds these is loaded; until then plain.

import { later } from '../later.tsx';
import type { CodeProps } from './highlighted-code.tsx';

export const Code = later(
  async () => (await import('./highlighted-code.tsx')).HighlightedCode,
  ({ code }: CodeProps) => code,
);
