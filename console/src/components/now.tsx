// One clock for all countdowns of the page: it ticks once a second, for those who look at it.

import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';

const TICK_MS = 1000;

const NowContext = createContext<number>(0);

export function NowProvider({ children }: { readonly children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return <NowContext value={now}>{children}</NowContext>;
}

/** Milliseconds since the epoch, to the second. */
export function useNow(): number {
  return useContext(NowContext);
}
