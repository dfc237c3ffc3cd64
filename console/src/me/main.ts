// The page of a key's holder: asks for the key, and shows what it used and what is left. No framework: it is small.

/// <reference types="vite/types/importMeta.d.ts" />

import { me as en, type MeTexts } from '../i18n/en/me.ts';
import './me.css';

const TEXTS = import.meta.glob<MeTexts>('../i18n/*/me.ts', { eager: true, import: 'me' });

/** In this tab alone, and never in an address. */
const STORED = 'isthmus-me-key';

const { language, texts } = chooseTexts(navigator.languages);
const timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const number = new Intl.NumberFormat(language);
const currency = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
const money = new Intl.NumberFormat(language, currency);
const smallMoney = new Intl.NumberFormat(language, { ...currency, maximumSignificantDigits: 3 });
const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });

const root = document.getElementById('me');
if (root === null) throw new Error('The page has no place for the usage.');
document.documentElement.lang = language;
document.title = `${texts.title} · isthmus`;

type Child = Node | string;

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    element.setAttribute(attribute, value);
  }
  element.append(...children);
  return element;
}

const status = make('p', { role: 'status', class: 'status' });
const shown = make('div', { class: 'shown' });
const field = make('input', {
  ...{ id: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false', required: '' },
});
const forget = make('button', { type: 'button', class: 'plain' }, texts.forget);
const form = make(
  'form',
  { class: 'panel ask' },
  make('label', { for: 'key' }, texts.key),
  make('div', { class: 'row' }, field, make('button', { type: 'submit' }, texts.show), forget),
);
root.replaceChildren(make('h1', {}, texts.title), make('p', {}, texts.hint), form, status, shown);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void show(field.value.trim());
});
forget.addEventListener('click', () => {
  sessionStorage.removeItem(STORED);
  field.value = '';
  forget.hidden = true;
  shown.replaceChildren();
  status.textContent = '';
  field.focus();
});
const stored = sessionStorage.getItem(STORED);
forget.hidden = stored === null;
if (stored !== null) void show(stored);

async function show(key: string): Promise<void> {
  status.textContent = texts.loading;
  const usage = await fetchOwnUsage(key, timeZone);
  if ('problem' in usage) {
    status.textContent = usage.problem;
    shown.replaceChildren();
    // Any other may be good again in a while.
    if (usage.problem === texts.refused) sessionStorage.removeItem(STORED);
    return;
  }
  sessionStorage.setItem(STORED, key);
  field.value = '';
  forget.hidden = false;
  status.textContent = '';
  shown.replaceChildren(makeHead(usage), makeBudgets(usage), makeDays(usage), makeModels(usage));
}

function makeHead({ key }: OwnUsage): HTMLElement {
  const names = [key.name, key.owner, key.team].filter((name) => name !== null);
  const head = make('section', {}, make('h2', {}, names.join(' · ') || texts.key));
  if (key.expires_at !== null) {
    head.append(
      make('p', { class: 'dimmed' }, texts.expires(moment.format(new Date(key.expires_at)))),
    );
  }
  return head;
}

function makeBudgets({ budgets, limits }: OwnUsage): HTMLElement {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = limits;
  const { concurrent_requests: atOnce } = limits;
  const panel = make('section', { class: 'panel' }, make('h2', {}, texts.budgets));
  if (budgets.length === 0) panel.append(make('p', { class: 'dimmed' }, texts.noBudgets));
  for (const budget of budgets) panel.append(makeBudget(budget));
  if (requests !== null || tokens !== null) {
    const rates = texts.perMinute(
      requests === null ? texts.unlimitedRequests : sayCount('requests', requests),
      tokens === null ? texts.unlimitedTokens : sayCount('tokens', tokens),
    );
    panel.append(make('p', {}, rates));
  }
  if (atOnce !== null) {
    panel.append(make('p', {}, texts.atOnce(sayCount('requests', atOnce))));
  }
  return panel;
}

function sayCount(unit: keyof typeof texts.counts, value: number): string {
  return texts.counts[unit](number.format(value), value === 1);
}

function makeBudget(budget: OwnBudget): HTMLElement {
  const { scope, unit, period, amount, used, remaining, hard, ends_at: end } = budget;
  const say = (value: number): string =>
    unit === 'money' ? sayMoney(value) : sayCount(unit, value);
  const words = texts.of(say(used), say(amount), texts.periods[period]);
  const share = amount === 0 ? 100 : Math.min(100, (used / amount) * 100);
  const level = share >= 100 ? 'spent' : share >= 80 ? 'warning' : 'ok';
  const label = `${texts.scopes[scope]}: ${words}`;
  const bar = make('progress', {
    max: '100',
    value: String(share),
    class: level,
    'aria-label': label,
  });
  const left = texts.left(say(remaining), moment.format(new Date(end)));
  return make(
    'div',
    { class: 'budget' },
    make('strong', {}, texts.scopes[scope], hard ? '' : ` (${texts.soft})`),
    make('span', {}, words),
    bar,
    make('span', { class: 'dimmed' }, left),
  );
}

function makeDays({ days }: OwnUsage): HTMLElement {
  const panel = make('section', { class: 'panel' }, make('h2', { id: 'days' }, texts.days));
  const used = days.filter(({ requests }) => requests > 0).toReversed();
  if (used.length === 0) {
    panel.append(make('p', { class: 'dimmed' }, texts.noUse));
    return panel;
  }
  const head = [
    ...[texts.day, texts.model].map((name) => make('th', { scope: 'col' }, name)),
    ...FIGURES.map((name) => make('th', { scope: 'col', class: 'numeric' }, name)),
  ];
  const body = make('tbody');
  for (const one of used) {
    const at = day.format(new Date(one.begins_at));
    for (const model of one.models) body.append(makeRow([at, model.model || '–'], model));
  }
  const foot = make('tfoot', {}, makeRow([texts.total, ''], sum(used)));
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...head)), body, foot);
  // Long names of models may scroll it sideways, also by keys.
  panel.append(
    make(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'days' },
      table,
    ),
  );
  return panel;
}

const FIGURES = [texts.requests, texts.input, texts.output, texts.images, texts.cost];

function makeRow(names: readonly string[], figures: UsageFigures): HTMLElement {
  const { requests, input_tokens: input, output_tokens: output, images, cost } = figures;
  const numbers = [requests, input, output, images].map((value) => number.format(value));
  return make(
    'tr',
    {},
    ...names.map((name) => make('td', {}, name)),
    ...[...numbers, sayMoney(cost)].map((text, index) =>
      make('td', { class: 'numeric', 'data-label': FIGURES[index] ?? '' }, text),
    ),
  );
}

function sum(rows: readonly UsageFigures[]): UsageFigures {
  const add = (name: 'requests' | 'input_tokens' | 'output_tokens' | 'images'): number =>
    rows.reduce((total, row) => total + row[name], 0);
  const costs = rows.map(({ cost }) => cost).filter((cost) => cost !== null);
  return {
    requests: add('requests'),
    input_tokens: add('input_tokens'),
    output_tokens: add('output_tokens'),
    images: add('images'),
    cost: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
  };
}

function makeModels({ models }: OwnUsage): HTMLElement {
  const list = make('ul', { class: 'models' }, ...models.map((model) => make('li', {}, model)));
  return make('section', { class: 'panel' }, make('h2', {}, texts.models), list);
}

/** A part of a cent is something, too. */
function sayMoney(dollars: number | null): string {
  if (dollars === null) return '–';
  return (dollars !== 0 && Math.abs(dollars) < 0.1 ? smallMoney : money).format(dollars);
}

/** In the first language of the browser that there is. */
function chooseTexts(languages: readonly string[]): { language: string; texts: MeTexts } {
  for (const tag of languages) {
    const code = tag.split('-')[0] ?? '';
    const texts = TEXTS[`../i18n/${code}/me.ts`];
    if (texts !== undefined) return { language: code === 'zh' ? 'zh-CN' : tag, texts };
  }
  return { language: 'en', texts: en };
}

interface OwnUsage {
  readonly key: {
    readonly name: string | null;
    readonly owner: string | null;
    readonly team: string | null;
    readonly expires_at: string | null;
  };
  readonly days: readonly (UsageFigures & {
    readonly begins_at: string;
    readonly models: readonly (UsageFigures & { readonly model: string })[];
  })[];
  readonly limits: {
    readonly requests_per_minute: number | null;
    readonly tokens_per_minute: number | null;
    readonly concurrent_requests: number | null;
  };
  readonly budgets: readonly OwnBudget[];
  readonly models: readonly string[];
}

interface UsageFigures {
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly cost: number | null;
}

interface OwnBudget {
  readonly scope: 'key' | 'team' | 'gateway';
  readonly unit: 'requests' | 'images' | 'tokens' | 'money';
  readonly period: 'day' | 'week' | 'month';
  readonly hard: boolean;
  readonly amount: number;
  readonly used: number;
  readonly remaining: number;
  readonly ends_at: string;
}

interface NoUsage {
  /** In words: the key is unknown, does not serve now, or nobody answers. */
  readonly problem: string;
}

async function fetchOwnUsage(key: string, timeZone: string): Promise<OwnUsage | NoUsage> {
  // No header can hold anything else.
  if (!/^[\x21-\x7e]+$/.test(key)) return { problem: texts.refused };
  try {
    const answer = await fetch(`/v1/usage?time_zone=${encodeURIComponent(timeZone)}`, {
      headers: { authorization: `Bearer ${key}` },
      credentials: 'omit',
      cache: 'no-store',
    });
    if (answer.status === 401) return { problem: texts.refused };
    if (answer.status === 403) {
      const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
      return { problem: texts.rejected(error.message) };
    }
    return answer.ok ? ((await answer.json()) as OwnUsage) : { problem: texts.failed };
  } catch {
    return { problem: texts.failed };
  }
}
