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
      await Promise.all(held.splice(0).map((route) => route.fallback()));
    },
  };
}

/**
 * A script for a page on a machine that is so slow that between what React draws and the effects of that anything can
 * happen. After `busy.stop()` nothing is drawn; `busy.draw()` draws what waits, without the effects; `busy.go()` ends it.
 * `busy.refused` resolves when the page has read that a call was refused.
 */
export const BUSY_MACHINE = `{
  const waiting = [];
  const { postMessage } = MessagePort.prototype;
  const { json } = Response.prototype;
  const now = performance.now.bind(performance);
  let isStopped = false;
  let aheadMs = 0;
  let hearRefusal;
  const drawn = () => { aheadMs += isStopped ? 100 : 0; };
  // React goes on by such messages, and rests where much time has passed.
  MessagePort.prototype.postMessage = function (...sent) {
    const post = () => postMessage.apply(this, sent);
    if (isStopped) waiting.push(post);
    else post();
  };
  performance.now = () => now() + aheadMs;
  const hook = { supportsFiber: true, inject: () => 1, checkDCE() {}, onCommitFiberUnmount() {} };
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = { ...hook, onCommitFiberRoot: drawn, onPostCommitFiberRoot() {} };
  Response.prototype.json = async function () {
    const value = await json.call(this);
    if (!this.ok) setTimeout(hearRefusal);
    return value;
  };
  window.busy = {
    refused: new Promise((heard) => { hearRefusal = heard; }),
    stop() { isStopped = true; },
    draw() { waiting.shift()?.(); return new Promise((done) => setTimeout(done, 50)); },
    go() { isStopped = false; for (const post of waiting.splice(0)) post(); },
  };
}`;

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
