// The models a client may name, with the figures its lists show: upstream figures over built-in ones.

import type { ModelTask } from '../canonical/model.ts';
import type { Pool } from '../pool/pool.ts';
import type { ListedModel } from '../protocols/protocol.ts';
import { CATALOG_CREATED_AT, findCatalogModel } from '../routing/catalog.ts';
import { familyOf } from '../routing/families.ts';
import type { Router } from '../routing/router.ts';

export interface ModelDirectory {
  list(): Promise<readonly ListedModel[]>;
  /** Undefined for a name that no enabled account serves. */
  get(name: string): Promise<ListedModel | undefined>;
}

export interface ModelDirectoryOptions {
  readonly router: Pick<Router, 'list' | 'explain'>;
  readonly pool: Pick<Pool, 'describe' | 'ensureModels'>;
}

/** Shown for models nobody gave figures for. */
const UNKNOWN_LIMITS = { inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 };

/** Lists that say nothing about methods are lists of models that answer. */
const UNKNOWN_TASKS: readonly ModelTask[] = ['generate'];

export function createModelDirectory({ router, pool }: ModelDirectoryOptions): ModelDirectory {
  const describe = (id: string): ListedModel | undefined => {
    const { route, servedAs } = router.explain(id);
    const target = route?.target;
    if (target === undefined || servedAs === undefined) return undefined;
    const offered = pool.describe(target);
    const known = findCatalogModel(target);
    if (offered === undefined && known === undefined) return undefined;
    return {
      id,
      displayName: id === target ? (known?.displayName ?? offered?.displayName ?? id) : id,
      description: known?.description ?? offered?.description ?? '',
      createdAt: known?.createdAt ?? CATALOG_CREATED_AT,
      inputTokenLimit:
        offered?.inputTokenLimit ?? known?.inputTokenLimit ?? UNKNOWN_LIMITS.inputTokenLimit,
      outputTokenLimit:
        offered?.outputTokenLimit ?? known?.outputTokenLimit ?? UNKNOWN_LIMITS.outputTokenLimit,
      supportsThinking: offered?.supportsThinking ?? known?.supportsThinking ?? false,
      drawsImages: known?.drawsImages ?? familyOf(target) === 'image',
      tasks: offered?.tasks ?? known?.tasks ?? UNKNOWN_TASKS,
    };
  };
  return {
    async list() {
      await pool.ensureModels();
      return router
        .list()
        .map(describe)
        .filter((model) => model !== undefined);
    },
    async get(name) {
      await pool.ensureModels();
      return describe(name);
    },
  };
}
