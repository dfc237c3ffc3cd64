// One text of the address that a person types: shown at once, written to the address when typing pauses.

import { useCallback, useEffect, useRef, useState } from 'react';
import { useSearchTexts } from './use-search-texts.ts';

const PAUSE_MS = 200;

export function useAddressText(name: string): readonly [string, (text: string) => void] {
  const { texts, adjust } = useSearchTexts();
  const outside = texts[name] ?? '';
  const [text, setText] = useState(outside);
  const timer = useRef<number>(undefined);
  // A change from elsewhere, such as a link, counts unless somebody is typing.
  useEffect(() => {
    if (timer.current === undefined) setText(outside);
  }, [outside]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const change = useCallback(
    (typed: string): void => {
      setText(typed);
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => {
        timer.current = undefined;
        adjust({ [name]: typed });
      }, PAUSE_MS);
    },
    [adjust, name],
  );
  return [text, change];
}
