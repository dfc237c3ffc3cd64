// Whether a model can do what is asked of it, as its account's own list or the catalogue says.

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import type { ModelTask } from '../canonical/model.ts';
import { told } from '../lib/told.ts';
import type { Lease } from '../pool/pool.ts';
import { findCatalogModel } from '../routing/catalog.ts';

/** Undefined when nobody says: the upstream decides then. */
export function knownTasks(
  target: string,
  lease: Pick<Lease, 'listedModel'>,
): readonly ModelTask[] | undefined {
  return lease.listedModel?.tasks ?? findCatalogModel(target)?.tasks;
}

/** @throws GatewayError (invalid-request) for a model that is known not to do this. */
export function requireTask(
  task: ModelTask,
  { model, target }: { readonly model: string; readonly target: string },
  lease: Pick<Lease, 'listedModel'>,
): void {
  const tasks = knownTasks(target, lease);
  if (tasks === undefined || tasks.includes(task)) return;
  throw wrongTask(task, model === target ? model : `${model} (${target})`);
}

function wrongTask(task: ModelTask, name: string): GatewayError {
  const message =
    task === 'embed'
      ? told`${name} makes no embeddings. GET /v1beta/models names embedContent among the methods of the models that do.`
      : told`${name} makes embeddings and answers nothing else. Send it to /v1/embeddings or :embedContent, or name another model.`;
  return invalidRequest('model', message, 'unsupported');
}
