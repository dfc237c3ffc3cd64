// What the snippets are filled with: the address of this page, a model the gateway offers, and a key.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sectionQuery } from '../../api/queries/config.ts';
import { keysQuery } from '../../api/queries/keys.ts';
import { modelsQuery } from '../../api/queries/models.ts';
import { overviewQuery } from '../../api/queries/overview.ts';
import { findOverride, isSecretSet, valueAt } from '../../settings/section-values.ts';
import type { Client, SetUp } from './client.ts';
import { pickModel } from './clients.ts';
import { findKeyNeed, isGap, type KeyNeed, placeholderKey } from './key-need.ts';

interface MadeKey {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}

export interface SetUpState {
  readonly setUp: SetUp;
  readonly need: KeyNeed;
  /** Stands where a key has to be put in by hand. */
  readonly gap: string;
  readonly typedModel: string;
  readonly typedKey: string;
  /** The key that was made on this page. */
  readonly made: MadeKey | undefined;
  /** Of all keys. */
  readonly keyNames: readonly string[];
  setMade(made: MadeKey): void;
  typeModel(model: string): void;
  typeKey(key: string): void;
  /** Why it is not known yet; null while it is being read. */
  readonly error: unknown;
  readonly isLoaded: boolean;
  retry(): void;
}

/** The key lives as long as the page is open, and nowhere else. */
export function useSetUp(client: Client): SetUpState {
  const [models, setModels] = useState<Readonly<Record<string, string>>>({});
  const [typedKey, setKey] = useState('');
  const [made, setMade] = useState<MadeKey>();
  const listed = useQuery(modelsQuery);
  const overview = useQuery(overviewQuery);
  const keys = useQuery(keysQuery);
  const door = useQuery(sectionQuery('auth'));
  const queries = [listed, overview, keys, door];
  const gatewayKey =
    findOverride(door.data, ['api_key'])?.value ?? valueAt(door.data?.values, ['api_key']);
  const need = findKeyNeed({
    authMode: overview.data?.authMode ?? 'auto',
    hostname: window.location.hostname,
    hasKeys: isSecretSet(gatewayKey) || (keys.data?.keys.length ?? 0) > 0,
  });
  const suggested = pickModel(listed.data?.models ?? [], client);
  const typedModel = models[client.id] ?? suggested;
  const key = typedKey.trim();
  return {
    setUp: {
      address: window.location.origin,
      key: key === '' ? placeholderKey(need) : key,
      model: typedModel.trim() === '' ? suggested : typedModel.trim(),
    },
    need,
    gap: key === '' && isGap(need) ? placeholderKey(need) : '',
    typedModel,
    typedKey,
    made,
    keyNames: (keys.data?.keys ?? []).map(({ name }) => name),
    setMade(next) {
      setMade(next);
      setKey(next.secret);
    },
    typeModel: (model) => setModels({ ...models, [client.id]: model }),
    typeKey: setKey,
    error: queries.find(({ data, error }) => data === undefined && error !== null)?.error ?? null,
    isLoaded: queries.every(({ data }) => data !== undefined),
    retry() {
      for (const { data, refetch } of queries) if (data === undefined) void refetch();
    },
  };
}
