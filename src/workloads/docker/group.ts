// Control groups as engines name them: by their path below the mount.
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

const UNIFIED = /^\S+ (\S+) cgroup2 /m
const EVERY_V1 = /^\S+ (\S+) cgroup /gm
const CPU_V1 = /^\S+ (\S+) cgroup (?:\S*,)?cpu[, ]/m
const MEMORY_V1 = /^\S+ (\S+) cgroup \S*\bmemory\b/m

/** The path of a control group, from its folder in the hierarchy of version 2. */
export const groupPathOf = (folder: string): string => folder.slice(mountOf(UNIFIED).length)

/** The most memory that a group has ever used; 0 where the machine does not say. */
export function peakBytes(folder: string): number {
  const memory = mountOf(MEMORY_V1)
  const files = [
    join(folder, 'memory.peak'),
    ...(memory === '' ? [] : [join(memory, groupPathOf(folder), 'memory.max_usage_in_bytes')]),
  ]
  const found = files.find((path) => existsSync(path))
  return found === undefined ? 0 : Number(readFileSync(found, 'utf8'))
}

/** The groups of version 1 that an engine has made at the same path for the processors of its containers. */
export function cpuGroupsBelow(folder: string): readonly string[] {
  const mount = mountOf(CPU_V1)
  if (mount === '') return []
  const around = join(mount, groupPathOf(folder))
  return entriesOf(around).map((name) => join(around, name))
}

/** Removes the groups of version 1 that the engine has made at the same path. */
export function removeOtherGroups(folder: string): void {
  const path = groupPathOf(folder)
  for (const [, mount = ''] of readFileSync('/proc/mounts', 'utf8').matchAll(EVERY_V1))
    removeEmpty(join(mount, path))
}

function removeEmpty(folder: string): void {
  try {
    for (const name of entriesOf(folder)) removeEmpty(join(folder, name))
    rmdirSync(folder)
  } catch {
    // It is gone, or not empty yet: an empty group uses nothing.
  }
}

/** None of a folder that is gone. */
function entriesOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

const mountOf = (kind: RegExp): string => kind.exec(readFileSync('/proc/mounts', 'utf8'))?.[1] ?? ''
