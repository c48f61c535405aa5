// Kills and removes the leftovers of an earlier life of this instance before anything starts: by our own
// cgroups and by the record of each process, never by name. The caller holds the lock of
// the data folder, so nothing that is found can belong to a running agent.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Clock, sleep } from '#base/clock.ts'

import { leftGroups, removeFolder } from './cgroup.ts'
import { bootId, type Lineage, readProcess } from './process-table.ts'
import { killTree, signalProcess, type Tree, treeOfLineage } from './stop.ts'

/** Names a process for ever: a pid alone is given again, to anyone. */
type LifeRecord = {
  readonly pid: number
  readonly startTicks: number
  readonly boot: string
  readonly uid?: number | undefined
}

/** No process has this pid, nor a session of our cells this number. */
const NOBODY = -1

export type LifeRecords = {
  /** Called at once after the start of a leader. */
  write(cell: string, pid: number, uid: number | undefined): void
  remove(cell: string): void
}

export function createLifeRecords(folder: string): LifeRecords {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const boot = bootId()
  const pathOf = (cell: string) => join(folder, `${cell}.json`)
  return {
    write: (cell, pid, uid) => {
      const startTicks = readProcess(pid)?.startTicks
      if (startTicks === undefined) return
      const record: LifeRecord = { pid, startTicks, boot, uid }
      // Not fsynced: after a power cut there is nothing to sweep.
      writeFileSync(pathOf(cell), JSON.stringify(record), { mode: 0o600 })
    },
    remove: (cell) => rmSync(pathOf(cell), { force: true }),
  }
}

/** Kills and removes the groups below each folder, and the folders. Returns what was still alive. */
export async function sweepGroups(folders: readonly string[], clock: Clock): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    for (const name of groupsBelow(folder)) {
      const group = join(folder, name)
      if (hasProcesses(group)) found.push(name)
      await killTree(treeOfFolder(group), clock)
      await removeFolder(group, clock)
    }
    await removeFolder(folder, clock)
  }
  return found
}

/** The deepest first: an engine makes groups below those of its containers. */
function groupsBelow(folder: string): string[] {
  return leftGroups(folder).flatMap((name) => [
    ...groupsBelow(join(folder, name)).map((below) => join(name, below)),
    name,
  ])
}

/**
 * Kills the trees of the recorded leaders and removes the records. `isOurs` tells whether a uid is in
 * the range that this instance holds. Returns what was still alive.
 */
export async function sweepRecords(
  folder: string,
  isOurs: (uid: number) => boolean,
  clock: Clock,
): Promise<string[]> {
  const found: string[] = []
  const boot = bootId()
  for (const file of readNames(folder)) {
    const path = join(folder, file)
    const record = parseRecord(readFileSync(path, 'utf8'))
    if (record !== undefined && record.boot === boot) {
      const tree = treeOfLineage(() => lineageOf(record, isOurs), clock)
      if (!tree.isEmpty()) found.push(file.replace(/\.json$/, ''))
      await killTree(tree, clock)
    }
    rmSync(path)
  }
  return found
}

/**
 * When the recorded leader is gone its session may still have members: the kernel does not give the
 * number to a new process while one uses it as its session. So another process of that number means
 * that the session is empty, and only the uid is left to look for.
 */
function lineageOf(record: LifeRecord, isOurs: (uid: number) => boolean): Lineage | undefined {
  const uid = record.uid !== undefined && isOurs(record.uid) ? record.uid : undefined
  const holder = readProcess(record.pid)
  const isGivenAgain = holder !== undefined && holder.startTicks !== record.startTicks
  if (!isGivenAgain) return { leader: record.pid, uid }
  return uid === undefined ? undefined : { leader: NOBODY, uid }
}

function treeOfFolder(group: string): Tree {
  // Version 1 has no cgroup.kill.
  const pids = () => processesOf(group).split('\n').filter(Boolean)
  return {
    isEmpty: () => !hasProcesses(group),
    kill: () => pids().forEach((pid) => signalProcess(Number(pid), 'SIGKILL')),
    freeze: () => sleep(0),
    limitCpu: () => undefined,
  }
}

const hasProcesses = (group: string) => processesOf(group) !== ''

/** A group that has gone has none: an engine removes groups of its own meanwhile. */
function processesOf(group: string): string {
  try {
    return readFileSync(join(group, 'cgroup.procs'), 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENODEV'].includes(String((error as NodeJS.ErrnoException).code))) return ''
    throw error
  }
}

function parseRecord(text: string): LifeRecord | undefined {
  // A record cut short by the death of its writer: that process died with its parent.
  if (!text.endsWith('}')) return undefined
  return JSON.parse(text) as LifeRecord
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
