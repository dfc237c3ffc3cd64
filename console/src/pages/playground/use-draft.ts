// What the person writes in the playground, with a model suggested until one is chosen.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { modelsQuery } from '../../api/queries/models.ts';
import type { Draft } from '../../wire/write-request.ts';
import { type AmountField, hasBadAmount, type TypedAmounts, takeTyped } from './draft-amounts.ts';
import { suggestModel } from './suggest-model.ts';

const FIRST_DRAFT: Draft = {
  protocol: 'chat',
  model: '',
  system: '',
  turns: [],
  tools: [],
  stream: true,
  maxTokens: undefined,
  temperature: undefined,
  thinkingTokens: undefined,
  size: '',
  quality: '',
  count: 1,
};

/** What suits texts does not suit images: each has its own model. */
type Purpose = 'texts' | 'images';

/** A model is suggested for each until one is written. */
export function useDraft(kept: Partial<Draft> | undefined) {
  const [written, setWritten] = useState<Draft>({ ...FIRST_DRAFT, ...kept });
  const [typed, setTyped] = useState<TypedAmounts>({});
  const [chosen, setChosen] = useState<Readonly<Partial<Record<Purpose, string>>>>(() =>
    written.model === '' ? {} : { [purposeOf(written)]: written.model },
  );
  const models = useQuery(modelsQuery);
  const suggested = suggestModel(models.data?.models ?? [], written.protocol === 'images');
  const draft = { ...written, model: chosen[purposeOf(written)] ?? suggested };
  return {
    draft,
    typed,
    hasBadAmount: hasBadAmount(draft, typed),
    type(field: AmountField, text: string) {
      setTyped({ ...typed, [field]: text });
      setWritten(takeTyped(written, field, text));
    },
    setDraft(next: Draft) {
      const purpose = purposeOf(draft);
      const isSame = purposeOf(next) === purpose;
      if (isSame && next.model !== draft.model) setChosen({ ...chosen, [purpose]: next.model });
      setWritten(next);
    },
  };
}

function purposeOf({ protocol }: Draft): Purpose {
  return protocol === 'images' ? 'images' : 'texts';
}
