// Small pages outside the console: one message, without script.

import { hash } from 'node:crypto';
import type { AdminAnswer, PageLanguage } from '../server/admin-route.ts';

export interface Notice {
  readonly tone: 'good' | 'bad';
  readonly words: Readonly<Record<PageLanguage, NoticeWords>>;
}

interface NoticeWords {
  readonly title: string;
  /** Markup; nothing of a request may stand in it. */
  readonly text: string;
}

const TAGS = { en: 'en', ja: 'ja', zh: 'zh-CN' } as const;

const STYLE =
  ':root{color-scheme:light dark;--bg:#f7f8fa;--card:#fff;--line:#e3e6ea;--text:#15181d;--dim:#59636e;' +
  '--good:#1a7f37;--bad:#c0273c;--link:#3b4fd8}' +
  '@media (prefers-color-scheme:dark){:root{--bg:#0d1014;--card:#15181d;--line:#2a2f36;--text:#e9ecf0;' +
  '--dim:#98a2ad;--good:#4cc38a;--bad:#ff7b81;--link:#98a5ff}}' +
  'body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--bg);color:var(--text);' +
  'font:1rem/1.5 system-ui,sans-serif}' +
  'main{box-sizing:border-box;width:min(26rem,calc(100% - 2rem));margin:2rem 0;padding:2rem;' +
  'background:var(--card);border:1px solid var(--line);border-radius:12px}' +
  '.brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.5rem;font-weight:600}' +
  '.brand svg{width:24px;height:24px}' +
  'h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.3}h1.good{color:var(--good)}h1.bad{color:var(--bad)}' +
  'p{margin:0;color:var(--dim)}p.brand{color:var(--text)}p+p{margin-top:1rem}a{color:var(--link)}';
const STYLE_HASH = hash('sha256', STYLE, 'base64');

const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3b4fd8"/>' +
  '<path d="M6 9c6 0 6 7 10 7s4-7 10-7M6 23c6 0 6-7 10-7s4 7 10 7" fill="none" stroke="#fff" ' +
  'stroke-width="2.6" stroke-linecap="round"/></svg>';

export function writeNotice({ tone, words }: Notice, language: PageLanguage): AdminAnswer {
  const { title, text } = words[language];
  const html =
    `<!doctype html><html lang="${TAGS[language]}"><head><meta charset="utf-8"><title>${title} · isthmus</title>` +
    `<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head><body><main>` +
    `<p class="brand">${MARK}isthmus</p><h1 class="${tone}">${title}</h1><p>${text}</p></main></body></html>`;
  return { kind: 'page', html, styleHash: STYLE_HASH };
}
