// CPU time, memory and pinning of processes, as the Linux kernel counts and does them.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;
const hasTaskset = spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0;

/** The command line that runs a program on one core only; unchanged where `taskset` is missing. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  return hasTaskset ? ['taskset', '-c', `${core}`, ...command] : command;
}

/** Moves this process, all its threads, to one core. */
export function pinThisProcess(core: number): void {
  if (hasTaskset) spawnSync('taskset', ['-a', '-c', '-p', `${core}`, `${process.pid}`]);
}

/** User and system time so far, in milliseconds: proc(5), fields 14 and 15 of /proc/[pid]/stat. */
export function readCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_SECOND;
}

/** Time all cores together were not idle since boot, in milliseconds: proc(5), /proc/stat. */
export function readBusyMs(): number {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0, stolen = 0] =
    ticks.map(Number);
  const busy = user + nice + system + interrupt + softInterrupt + stolen;
  return (busy * 1000) / CLOCK_TICKS_PER_SECOND;
}

/** Largest resident set since the start or the last reset, in megabytes. */
export function readPeakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** proc(5): writing 5 to clear_refs sets the peak back to the present size. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
