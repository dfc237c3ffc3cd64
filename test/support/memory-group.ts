// Memory cgroups, for processes that shall have little memory.

import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A memory cgroup of version 1 or 2; undefined where none may be made. */
export function makeMemoryGroup(limit: number): string | undefined {
  const isFirst = existsSync('/sys/fs/cgroup/memory/cgroup.procs');
  const parent = isFirst ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup';
  const file = isFirst ? 'memory.limit_in_bytes' : 'memory.max';
  const group = join(parent, `isthmus-test-${process.pid}-${limit}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, file), String(limit));
    return group;
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
}

/** Whether such a group may be made here. */
export function mayLimitMemory(): boolean {
  const group = makeMemoryGroup(67_108_864);
  if (group !== undefined) rmdirSync(group);
  return group !== undefined;
}
