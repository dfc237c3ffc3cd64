// The operator's own prices, by model: they replace the public ones. Every change acts at once.

import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconPencil, IconPlus, IconX } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AmountInput } from '../../components/amount-input.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { type AmountRange, isGoodAmount, takeAmount } from '../../components/read-amount.ts';
import { type Format, useFormat } from '../../components/use-format.ts';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useUnsaved } from '../../components/use-unsaved.tsx';
import type { routing } from '../../i18n/en/routing.ts';
import { useEntries } from './use-mapping.ts';

const USUAL_RATES = ['input', 'cached_input', 'output'] as const;
const MORE_RATES = [
  ...(['thought', 'cache_write', 'cache_write_hour', 'image_input', 'audio_input'] as const),
  ...(['image_output', 'audio_output', 'image'] as const),
] as const;
/** Steps of long prompts are set in the config file, and stay as they are. */
const RATES = [...USUAL_RATES, ...MORE_RATES];
type RateName = keyof (typeof routing)['rates'];
type Texts = Readonly<Partial<Record<RateName, string>>>;
const EMPTY: Texts = {};
const RANGE: AmountRange = { least: 0, most: 1_000_000, isWhole: false };

const readPrices = (values: object): readonly (readonly [string, object])[] =>
  Object.entries(values);

export function PricesPanel() {
  const { t } = useTranslation();
  const format = useFormat();
  const prices = useEntries('prices', readPrices);
  const { texts: address } = useSearchTexts();
  const { price: asked = '' } = address;
  const [model, setModel] = useState(asked);
  const [texts, setTexts] = useState(EMPTY);
  const [isMore, setMore] = useState(false);
  const modelField = useRef<HTMLInputElement>(null);
  const name = model.trim();
  const known = new Map(prices.entries);
  const saved = toTexts(known.get(name) ?? {});
  useUnsaved(RATES.some((rate) => (texts[rate] ?? '') !== (saved[rate] ?? '')));
  const isGood =
    name !== '' &&
    Object.values(texts).every((text) => isGoodAmount(text, RANGE)) &&
    Object.values(texts).some((text) => text.trim() !== '');
  const show = (price: object): void => {
    const shown = toTexts(price);
    setTexts(shown);
    setMore(MORE_RATES.some((rate) => shown[rate] !== undefined));
  };
  const edit = (key: string): void => {
    setModel(key);
    show(known.get(key) ?? {});
    modelField.current?.focus();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isGood) return;
    // Of a price that was named last, what is not shown stays.
    const rates = Object.entries(texts).map(([rate, text]) => [
      rate,
      takeAmount(text, RANGE) ?? null,
    ]);
    const date = new Date().toISOString().slice(0, 10);
    const typed = { model, texts, isMore };
    const price = { ...Object.fromEntries(rates), date };
    prices.change({ [name]: price }, t('routing.priceSaved', { name }), () => {
      setModel(typed.model);
      setTexts(typed.texts);
      setMore(typed.isMore);
    });
    setModel('');
    setTexts(EMPTY);
    setMore(false);
  };
  const fieldOf = (rate: RateName) => ({
    range: RANGE,
    value: texts[rate] ?? '',
    onChange: (value: string) => setTexts({ ...texts, [rate]: value }),
  });
  return (
    <Panel isFlush title={t('routing.prices')} hint={t('routing.pricesHint')}>
      <form className="entry entry-new price-new" onSubmit={submit}>
        <TextInput
          ref={modelField}
          className="mono-field"
          aria-label={t('routing.priceModel')}
          placeholder={t('routing.priceModel')}
          value={model}
          onChange={({ currentTarget: { value } }) => setModel(value)}
          onBlur={() => {
            // Whoever names a price that exists sees what it is before it is changed.
            const price = known.get(name);
            if (price !== undefined && texts === EMPTY) show(price);
          }}
        />
        {USUAL_RATES.map((rate) => (
          <AmountInput
            {...fieldOf(rate)}
            key={rate}
            autoFocus={asked !== '' && rate === 'input'}
            aria-label={t(`routing.rates.${rate}`)}
            placeholder={t(`routing.rates.${rate}`)}
          />
        ))}
        <details open={isMore} onToggle={({ currentTarget: { open } }) => setMore(open)}>
          <summary className="small">{t('routing.moreRates')}</summary>
          <div className="price-new">
            {MORE_RATES.map((rate) => (
              <AmountInput {...fieldOf(rate)} key={rate} label={t(`routing.rates.${rate}`)} />
            ))}
          </div>
        </details>
        <Button
          type="submit"
          variant="default"
          disabled={!isGood}
          leftSection={known.has(name) ? undefined : <IconPlus size={16} />}
        >
          {t(known.has(name) ? 'routing.savePrice' : 'routing.addPrice')}
        </Button>
      </form>
      {prices.error !== null && <ErrorNote error={prices.error} onRetry={prices.reload} />}
      <ul className="entries">
        {prices.entries.map(([key, price]) => (
          <li key={key} className="entry price-item">
            <span className="mono wrap-anywhere">{key}</span>
            <span className="wrap-anywhere">{sayPrice(price, t, format)}</span>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('routing.editPrice', { name: key })}
              onClick={() => edit(key)}
            >
              <IconPencil size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('routing.removePrice', { name: key })}
              onClick={() =>
                prices.change({ [key]: null }, t('routing.priceRemoved', { name: key }))
              }
            >
              <IconX size={16} />
            </ActionIcon>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function toTexts(price: object): Texts {
  const rates = Object.entries(price).filter(([name]) => isRate(name));
  return Object.fromEntries(rates.map(([name, rate]: [string, unknown]) => [name, String(rate)]));
}

/** `Input $1.25 · Output $10`, and whatever else a price says. */
function sayPrice(price: object, t: TFunction, format: Format): string {
  return Object.entries(price)
    .map(([name, value]: [string, unknown]) => {
      if (typeof value === 'number' && isRate(name)) {
        return `${t(`routing.rates.${name}`)} ${format.price(value)}`;
      }
      return Array.isArray(value)
        ? value.map((step) => sayStep(step, t, format)).join(' · ')
        : String(value);
    })
    .join(' · ');
}

function sayStep({ input_tokens: tokens, ...rates }: Step, t: TFunction, format: Format): string {
  return t('routing.rateAbove', {
    tokens: format.number(Number(tokens)),
    rates: sayPrice(rates, t, format),
  });
}

interface Step {
  readonly input_tokens?: unknown;
}

const isRate = (name: string): name is RateName => RATE_NAMES.has(name);

const RATE_NAMES: ReadonlySet<string> = new Set(RATES);
