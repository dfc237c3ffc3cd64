// Where a session's requests go: its home account, and detours for models its home cannot serve.

export interface SessionBinding {
  readonly home: string;
  /** The models the session has asked for. */
  readonly models: readonly string[];
  readonly detours: ReadonlyMap<string, Detour>;
}

export interface Detour {
  readonly accountId: string;
  /** True while the home only rests: the session goes back to it. */
  readonly returns: boolean;
}

/**
 * What became of the account a session is bound to: `ready`, `resting` for a moment, `unfit` for this
 * model only (exhausted, protected, not offered), or `gone` for all (disabled, removed).
 */
export type BoundFate = 'ready' | 'resting' | 'unfit' | 'gone';

/** A client has few models; a session that names many is not followed into all of them. */
const MOST_MODELS = 8;

/** The accounts to try for a model, best first. */
export function boundAccounts({ home, detours }: SessionBinding, model: string): readonly string[] {
  const detour = detours.get(model);
  if (detour === undefined) return [home];
  return detour.returns ? [home, detour.accountId] : [detour.accountId, home];
}

export interface Move {
  readonly model: string;
  readonly chosen: string;
  /** Of the first of `boundAccounts`. */
  readonly fate: BoundFate;
}

/** The binding after a request went to `chosen`. */
export function nextBinding(binding: SessionBinding | undefined, move: Move): SessionBinding {
  const { model, chosen, fate } = move;
  if (binding === undefined) return boundTo(chosen, model);
  const [bound] = boundAccounts(binding, model);
  const isHome = bound === binding.home;
  if (chosen === bound) return isHome ? withoutDetour(binding, model) : binding;
  switch (fate) {
    case 'ready':
      return boundTo(chosen, model);
    case 'resting':
      return isHome ? withDetour(binding, model, { accountId: chosen, returns: true }) : binding;
    case 'gone':
      return isHome ? boundTo(chosen, model) : withLastingDetour(binding, move);
    case 'unfit':
      return isHome && binding.models.every((known) => known === model)
        ? boundTo(chosen, model)
        : withLastingDetour(binding, move);
    default:
      return fate satisfies never;
  }
}

function boundTo(home: string, model: string): SessionBinding {
  return { home, models: [model], detours: new Map() };
}

function withLastingDetour(binding: SessionBinding, { model, chosen }: Move): SessionBinding {
  if (chosen === binding.home) return withoutDetour(binding, model);
  return withDetour(binding, model, { accountId: chosen, returns: false });
}

function withDetour(binding: SessionBinding, model: string, detour: Detour): SessionBinding {
  const noted = noteModel(binding, model);
  if (!noted.models.includes(model)) return noted;
  return { ...noted, detours: new Map(noted.detours).set(model, detour) };
}

function withoutDetour(binding: SessionBinding, model: string): SessionBinding {
  const noted = noteModel(binding, model);
  if (!noted.detours.has(model)) return noted;
  const detours = new Map(noted.detours);
  detours.delete(model);
  return { ...noted, detours };
}

function noteModel(binding: SessionBinding, model: string): SessionBinding {
  const { models } = binding;
  if (models.includes(model) || models.length >= MOST_MODELS) return binding;
  return { ...binding, models: [...models, model] };
}
