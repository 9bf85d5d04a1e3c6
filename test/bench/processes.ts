import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What a process and all its descendants used so far. */
export interface TreeUsage {
  /** User and system time of all threads, ended children included. */
  readonly cpuMicros: number;
  /** Page faults that were answered from a disk. */
  readonly majorFaults: number;
  /** Memory, shared pages divided by the processes that have them (PSS). */
  readonly rss: number;
  /** The part of it that is not pages of files, which the kernel can drop at any time. */
  readonly anonymous: number;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
  readonly majorFaults: number;
}

let ticksPerSecond = 0;

/** Returns what the kernel says of a process and its descendants; Linux only. */
export function usageOfTree(root: number): TreeUsage {
  ticksPerSecond ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const processes = treeOf(root, allProcesses());
  const sum = (of: (process: Process) => number): number =>
    processes.reduce((total, process) => total + of(process), 0);
  const kilobytes = (pattern: RegExp): number =>
    sum(({ pid }) => numberIn(`/proc/${pid}/smaps_rollup`, pattern));
  return {
    majorFaults: sum(({ majorFaults }) => majorFaults),
    cpuMicros: (sum(({ ticks }) => ticks) / ticksPerSecond) * 1e6,
    rss: kilobytes(/^Pss:\s+(\d+)/m) * 1024,
    anonymous: kilobytes(/^Pss_Anon:\s+(\d+)/m) * 1024,
  };
}

function allProcesses(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : '';
    return stat === '' ? [] : [parseStat(stat)];
  });
}

/** Reads proc_pid_stat(5): the name in parentheses may itself have spaces and parentheses. */
export function parseStat(stat: string): Process {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, majflt, cmajflt, utime, stime, cutime, cstime] = [1, 9, 10, 11, 12, 13, 14].map(
    (i) => Number(fields[i]),
  );
  return {
    pid: Number.parseInt(stat, 10),
    parent: parent!,
    ticks: utime! + stime! + cutime! + cstime!,
    majorFaults: majflt! + cmajflt!,
  };
}

/** Picks a process and its descendants. */
export function treeOf(root: number, all: readonly Process[]): Process[] {
  const children = all.filter(({ parent }) => parent === root);
  return [
    ...all.filter(({ pid }) => pid === root),
    ...children.flatMap(({ pid }) => treeOf(pid, all)),
  ];
}

const numberIn = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(textOf(file))?.[1] ?? 0);

/** The text of a file, or nothing if its process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
