// A condition in a word, with a dot of its colour; the word carries the meaning, not the colour.

import type { ReactNode } from 'react';
import type { Tone } from './meter.tsx';
import './status-mark.css';

export function StatusMark({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ReactNode;
}) {
  return <span className={`status-mark is-${tone}`}>{children}</span>;
}
