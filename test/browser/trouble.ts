// Puts trouble between a page and its gateway: calls that are refused, lost, or answered late.

import type { Page, Route } from 'playwright-core';
import { asSentence } from '../../src/lib/localized-message.ts';

/** Calls of one kind: their method, and what their path looks like. */
export type Kind = readonly [method: string, path: RegExp];

export const REFUSAL = 'The disk of the gateway is full.';

/** From here on such calls are refused, as by a gateway in trouble. @returns what ends that */
export function refuse(page: Page, kind: Kind, status = 500): Promise<() => Promise<void>> {
  return intercept(page, kind, (route) => {
    // Model requests are refused in the shape of their protocol.
    const isAdmin = new URL(route.request().url()).pathname.startsWith('/api/');
    const message = isAdmin ? asSentence(REFUSAL) : REFUSAL;
    return route.fulfill({ status, json: { error: { code: 'internal', message } } });
  });
}

/** From here on such calls meet nobody. @returns what ends that */
export function lose(page: Page, kind: Kind): Promise<() => Promise<void>> {
  return intercept(page, kind, (route) => route.abort());
}

export interface Held {
  /** Ends when this many calls wait. */
  waiting(count: number): Promise<void>;
  /** Lets all go on, those that wait and those that come. */
  release(): Promise<void>;
}

/** From here on such calls wait on their way. */
export async function hold(page: Page, kind: Kind): Promise<Held> {
  const held: Route[] = [];
  const watchers = new Set<() => void>();
  let isReleased = false;
  await intercept(page, kind, (route) => {
    if (isReleased) return route.fallback();
    held.push(route);
    for (const watcher of watchers) watcher();
    return undefined;
  });
  return {
    waiting: (count) =>
      new Promise((done) => {
        const look = (): void => {
          if (held.length >= count) done();
        };
        watchers.add(look);
        look();
      }),
    async release() {
      isReleased = true;
      await Promise.all(held.splice(0).map((route) => route.continue()));
    },
  };
}

async function intercept(
  page: Page,
  [method, path]: Kind,
  handle: (route: Route) => unknown,
): Promise<() => Promise<void>> {
  const isPath = (url: URL): boolean => path.test(url.pathname);
  const handler = (route: Route): unknown =>
    route.request().method() === method ? handle(route) : route.fallback();
  await page.route(isPath, handler);
  return () => page.unroute(isPath, handler);
}
