// Tells a command that npm runs when npm is gone: npm passes SIGTERM on to its shell alone, which
// dies of it without telling anybody.
import { readFileSync } from 'node:fs';

const EVERY_MS = 500;

/**
 * Watches the shell that npm started this process in and, where /proc tells it, npm itself.
 * @param {{ event: string | undefined, parents?: () => readonly number[], onGone: () => void }} options
 *   event is what npm says it runs, undefined without npm: whoever else started this process may
 *   leave it behind on purpose, as nohup does
 * @returns {() => void} ends the watch
 */
export function watchParents({ event, parents = readParents, onGone }) {
  if (event === undefined || process.platform === 'win32') return () => {};
  const first = parents().join();
  const timer = setInterval(() => {
    if (parents().join() === first) return;
    clearInterval(timer);
    onGone();
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function readParents() {
  const shell = process.ppid;
  try {
    // The fourth field, behind a name in brackets that may hold spaces: proc_pid_stat(5).
    const stat = readFileSync(`/proc/${shell}/stat`, 'utf8');
    return [shell, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])];
  } catch {
    return [shell];
  }
}
