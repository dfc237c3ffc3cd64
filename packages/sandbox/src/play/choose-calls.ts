// Which functions the sandbox calls: those the prompt's markers name, or one that the mode forces.

import { isJsonObject, type JsonObject } from '../json.ts';
import { declarationsOf, type FunctionDeclaration, type GenerateRequest } from '../wire.ts';
import { type CallMarker, findCallMarkers } from './call-markers.ts';
import type { LastTurn } from './last-turn.ts';
import { smallestInstance } from './smallest-instance.ts';

export interface ChosenCalls {
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[];
  /** Why a marker led to no call. */
  readonly notes: readonly string[];
}

export function chooseCalls(request: GenerateRequest, turn: LastTurn): ChosenCalls {
  const markers = findMarkers(turn);
  const callable = listCallable(request);
  if (callable.length === 0) {
    return { calls: [], notes: markers.map(({ name }) => `No function ${name} may be called.`) };
  }
  const named = markers.map((marker) => ({ marker, target: findFunction(callable, marker.name) }));
  const calls = named.flatMap(({ marker, target }) =>
    target?.name === undefined ? [] : [{ name: target.name, args: marker.args }],
  );
  const notes = named
    .filter(({ target }) => target === undefined)
    .map(({ marker }) => `No function ${marker.name} is among the ${callable.length} callable.`);
  const isForced = request.toolConfig?.functionCallingConfig?.mode === 'ANY';
  if (calls.length === 0 && isForced && turn.results.length === 0) {
    return { calls: callable.slice(0, 1).map(callSmallest), notes };
  }
  return { calls, notes };
}

/** Behind results only the next `THEN-CALL-TOOL` of the turn's prompt counts. */
function findMarkers(turn: LastTurn): CallMarker[] {
  if (turn.results.length === 0) return findCallMarkers(turn.text, 'CALL-TOOL');
  const next = findCallMarkers(turn.prompt, 'THEN-CALL-TOOL')[turn.stepsDone - 1];
  return next === undefined ? [] : [next];
}

function listCallable(request: GenerateRequest): FunctionDeclaration[] {
  const { mode, allowedFunctionNames = [] } = request.toolConfig?.functionCallingConfig ?? {};
  if (mode === 'NONE') return [];
  return declarationsOf(request).filter(
    ({ name = '' }) => allowedFunctionNames.length === 0 || allowedFunctionNames.includes(name),
  );
}

/** Clients prefix the names of their tools (`mcp__server__name`), so an ending is enough. */
function findFunction(
  callable: readonly FunctionDeclaration[],
  name: string,
): FunctionDeclaration | undefined {
  const wanted = name.toLowerCase();
  return (
    callable.find((declaration) => declaration.name === name) ??
    callable.find((declaration) => declaration.name?.toLowerCase() === wanted) ??
    callable.find((declaration) => declaration.name?.toLowerCase().endsWith(wanted))
  );
}

function callSmallest(declaration: FunctionDeclaration): { name: string; args: JsonObject } {
  const schema = declaration.parametersJsonSchema ?? { ...declaration.parameters };
  const args = smallestInstance(JSON.parse(JSON.stringify(schema)));
  return { name: declaration.name ?? '', args: isJsonObject(args) ? args : {} };
}
