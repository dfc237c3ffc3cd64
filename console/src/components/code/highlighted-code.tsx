// Code whose syntax has colours: each piece is text of the page, so that no markup of it is ever used.

import { useMemo } from 'react';
import { highlight } from './highlight.ts';
import './highlighted-code.css';

export interface CodeProps {
  /** As people call it; one that is not known stays plain. */
  readonly language: string;
  readonly code: string;
}

export function HighlightedCode({ language, code }: CodeProps) {
  // The elements themselves are kept: an answer that grows below its code shows this again with every piece.
  return useMemo(
    () =>
      highlight(code, language).map(({ text, kind }, index) =>
        kind === undefined ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
          <span key={index} className={`code-${kind}`}>
            {text}
          </span>
        ),
      ),
    [code, language],
  );
}
