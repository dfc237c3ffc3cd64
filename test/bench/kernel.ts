// CPU time, memory and pinning of processes, as the Linux kernel counts and does them.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

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

/** Time on a core so far of all its threads, in milliseconds: proc(5), /proc/[pid]/task/[tid]/schedstat. */
export function readCpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => readThreadNanoseconds(pid, thread));
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1_000_000;
}

function readThreadNanoseconds(pid: number, thread: string): number {
  const [onCore] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
  return Number(onCore);
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
