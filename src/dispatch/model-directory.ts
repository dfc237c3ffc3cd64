// The models a client may request, as every protocol lists them: with limits from the upstream or, without those, built-in ones.

import type { ListedModel, ModelTask } from '../canonical/model.ts';
import type { Pool } from '../pool/create-pool.ts';
import { CATALOG_CREATED_AT, findCatalogModel } from '../routing/catalog.ts';
import { familyOf } from '../routing/families.ts';
import type { Router } from '../routing/router.ts';

interface ModelDirectoryOptions {
  readonly router: Pick<Router, 'list' | 'explain' | 'meant'>;
  readonly pool: Pick<Pool, 'describe' | 'ensureModels'>;
}

/** Lists that say nothing about methods are lists of models that answer. */
const UNKNOWN_TASKS: readonly ModelTask[] = ['generate'];

export function createModelDirectory({ router, pool }: ModelDirectoryOptions) {
  const describe = (id: string): ListedModel | undefined => {
    const target = router.explain(id).served?.target;
    if (target === undefined) return undefined;
    const offered = pool.describe(target);
    const known = findCatalogModel(target);
    if (offered === undefined && known === undefined) return undefined;
    return {
      id,
      displayName: id === target ? (known?.displayName ?? offered?.displayName ?? id) : id,
      description: known?.description ?? offered?.description ?? '',
      createdAt: known?.createdAt ?? CATALOG_CREATED_AT,
      inputTokenLimit: offered?.inputTokenLimit ?? known?.inputTokenLimit,
      outputTokenLimit: offered?.outputTokenLimit ?? known?.outputTokenLimit,
      supportsThinking: offered?.supportsThinking ?? known?.supportsThinking ?? false,
      drawsImages: known?.drawsImages ?? familyOf(target) === 'image',
      tasks: offered?.tasks ?? known?.tasks ?? UNKNOWN_TASKS,
    };
  };
  return {
    async list(): Promise<readonly ListedModel[]> {
      await pool.ensureModels();
      return router
        .list()
        .map(describe)
        .filter((model) => model !== undefined);
    },
    /** Undefined for a name that no enabled account serves. */
    async get(name: string): Promise<ListedModel | undefined> {
      await pool.ensureModels();
      return describe(name);
    },
    /** The name that a misspelt one was meant to be, of those that are allowed. */
    meant: router.meant,
  };
}
