// The operator's own prices, by model: they replace the public ones. Every change acts at once.

import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { useSearchTexts } from '../../components/use-search-texts.ts';
import { useEntries } from './use-mapping.ts';

const RATES = ['input', 'cached_input', 'output'] as const;
type RateName = (typeof RATES)[number];
type Texts = Readonly<Record<RateName, string>>;
const EMPTY: Texts = { input: '', cached_input: '', output: '' };

const readPrices = (values: object): readonly (readonly [string, object])[] =>
  Object.entries(values);

/** `input 1.25 · output 10`, whatever else a price says too. */
const sayRates = (price: object): string =>
  Object.entries(price)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' · ');

export function PricesPanel() {
  const { t } = useTranslation();
  const prices = useEntries('prices', readPrices);
  const { texts: address } = useSearchTexts();
  const { price: asked = '' } = address;
  const [model, setModel] = useState(asked);
  const [texts, setTexts] = useState(EMPTY);
  const name = model.trim();
  const rates = RATES.filter((rate) => texts[rate].trim() !== '').map(
    (rate) => [rate, Number(texts[rate])] as const,
  );
  const isGood = name !== '' && rates.length > 0 && rates.every(([, value]) => value >= 0);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isGood) return;
    const date = new Date().toISOString().slice(0, 10);
    const typed = { model, texts };
    const price = { ...Object.fromEntries(rates), date };
    prices.change({ [name]: price }, t('routing.priceSaved', { name }), () => {
      setModel(typed.model);
      setTexts(typed.texts);
    });
    setModel('');
    setTexts(EMPTY);
  };
  return (
    <Panel isFlush title={t('routing.prices')} hint={t('routing.pricesHint')}>
      <form className="entry entry-new price-new" onSubmit={submit}>
        <TextInput
          className="mono-field"
          aria-label={t('routing.priceModel')}
          placeholder={t('routing.priceModel')}
          value={model}
          onChange={({ currentTarget: { value } }) => setModel(value)}
        />
        {RATES.map((rate) => (
          <TextInput
            key={rate}
            autoFocus={asked !== '' && rate === 'input'}
            inputMode="decimal"
            aria-label={t(`routing.rates.${rate}`)}
            placeholder={t(`routing.rates.${rate}`)}
            value={texts[rate]}
            onChange={({ currentTarget: { value } }) => setTexts({ ...texts, [rate]: value })}
          />
        ))}
        <Button
          type="submit"
          variant="default"
          disabled={!isGood}
          leftSection={<IconPlus size={16} />}
        >
          {t('routing.addPrice')}
        </Button>
      </form>
      {prices.error !== null && <ErrorNote error={prices.error} onRetry={prices.reload} />}
      <ul className="entries">
        {prices.entries.map(([key, price]) => (
          <li key={key} className="entry price-item">
            <span className="mono wrap-anywhere">{key}</span>
            <span className="wrap-anywhere">{sayRates(price)}</span>
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
