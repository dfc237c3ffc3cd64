// Has the browser fetch the font of Latin letters with the page, so that its first texts are in it.

import type { Plugin } from 'vite';

const FONT = /inter-latin-wght-normal-[\w-]+\.woff2$/;

export function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const name = Object.keys(bundle ?? {}).find((file) => FONT.test(file));
        if (name === undefined) return [];
        const attrs = {
          rel: 'preload',
          href: `/${name}`,
          as: 'font',
          type: 'font/woff2',
          crossorigin: true,
        };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}
