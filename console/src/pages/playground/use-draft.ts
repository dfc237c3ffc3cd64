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
  stream: true,
  maxTokens: undefined,
  temperature: undefined,
  thinkingTokens: undefined,
  size: '',
  quality: '',
  count: 1,
};

/** A model is suggested until one is written; one that suits texts does not suit images. */
export function useDraft(kept: Partial<Draft> | undefined) {
  const [written, setWritten] = useState<Draft>({ ...FIRST_DRAFT, ...kept });
  const [typed, setTyped] = useState<TypedAmounts>({});
  const [hasModel, setHasModel] = useState(written.model !== '');
  const models = useQuery(modelsQuery);
  const suggested = suggestModel(models.data?.models ?? [], written.protocol === 'images');
  const draft = hasModel ? written : { ...written, model: suggested };
  return {
    draft,
    typed,
    hasBadAmount: hasBadAmount(draft, typed),
    type(field: AmountField, text: string) {
      setTyped({ ...typed, [field]: text });
      setWritten(takeTyped(written, field, text));
    },
    setDraft(next: Draft) {
      const isOther = (next.protocol === 'images') !== (draft.protocol === 'images');
      if (isOther) setHasModel(false);
      else if (next.model !== draft.model) setHasModel(true);
      setWritten(next);
    },
  };
}
