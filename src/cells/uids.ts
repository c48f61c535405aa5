// Uids and gids of cells. A file and a flock on it claim a range for the whole machine, so two instances never
// share a uid. Within the range every cell name keeps its number from start to start.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'

import { ErgonError, invariant } from '#base/errors.ts'
import { type FileLock, lockFile } from '#base/lock.ts'

export type IdRange = { readonly first: number; readonly count: number }

export type Uids = {
  readonly range: IdRange
  /** The uid, and gid, of a cell: the same at every start. */
  uidOf(cell: string): Promise<number>
  /** The gid of a socket group. */
  gidOf(group: string): Promise<number>
  release(): Promise<void>
}

type Record = {
  readonly instance: string
  range?: IdRange
  readonly cells: { [name: string]: number }
  readonly groups: { [name: string]: number }
}

// systemd leaves 1,879,048,192 … 2,147,483,647 unused (its UIDS-GIDS page): neither users, dynamic
// users, containers nor 16-bit ranges of /etc/subuid are there.
const SLOT_SIZE = 65_536
const SLOTS: readonly IdRange[] = Array.from({ length: 512 }, (_, slot) => ({
  first: 1_900_000_000 + slot * SLOT_SIZE,
  count: SLOT_SIZE,
}))
// A container that maps 65,536 ids: the few ranges between its users and its nobody.
const NARROW_SLOTS: readonly IdRange[] = Array.from({ length: 8 }, (_, slot) => ({
  first: 40_000 + slot * 2048,
  count: 2048,
}))

/**
 * Claims a range. `claimsFolder` is shared by all instances of the machine; `recordPath` lies in the
 * data folder. The range of the last start is taken again when no other instance has it; otherwise
 * the caller finds new numbers here and gives the cells' folders to them. Throws when none is free.
 */
export async function claimUids(deps: {
  readonly claimsFolder: string
  readonly recordPath: string
  readonly range?: IdRange
}): Promise<Uids> {
  await mkdir(deps.claimsFolder, { recursive: true, mode: 0o755 })
  const record = await readRecord(deps.recordPath)
  const { range, lock } = await claimRange(deps.claimsFolder, record, deps.range)
  record.range = range
  await writeRecord(deps.recordPath, record)

  const half = range.count / 2
  let last: Promise<unknown> = Promise.resolve()
  // Numbers are given one after another: two cells started at once must not get the same.
  const numberOf = (names: { [name: string]: number }, name: string): Promise<number> => {
    const given = last.then(async () => {
      const known = Object.hasOwn(names, name) ? names[name] : undefined
      if (known !== undefined) return known
      const next = Object.keys(names).length
      if (next >= half)
        throw baseFault('internal', `No number is left in the uid range for: ${name}`)
      names[name] = next
      await writeRecord(deps.recordPath, record)
      return next
    })
    last = given.catch(() => undefined)
    return given
  }
  return {
    range,
    uidOf: async (cell) => range.first + (await numberOf(record.cells, cell)),
    gidOf: async (group) => range.first + half + (await numberOf(record.groups, group)),
    release: () => lock.release(),
  }
}

async function claimRange(
  folder: string,
  record: Record,
  wanted: IdRange | undefined,
): Promise<{ range: IdRange; lock: FileLock }> {
  const slots = wanted === undefined ? await slotsOfThisMachine() : [wanted]
  const others = await readClaims(folder)
  const isForeign = (range: IdRange) =>
    (others.get(range.first) ?? record.instance) !== record.instance
  const mine = slots.filter((range) => range.first === record.range?.first && !isForeign(range))
  const free = slots.filter((range) => !others.has(range.first))
  // Last: ranges of instances that do not run now. Their cells' files lie in their own data folders.
  const idle = slots.filter(isForeign)
  for (const range of [...mine, ...free, ...idle]) {
    const path = join(folder, String(range.first))
    const lock = await lockFile(path).catch((error: unknown) => {
      if (error instanceof ErgonError && error.code === 'locked') return undefined
      throw error
    })
    if (lock === undefined) continue
    await writeFile(path, record.instance)
    return { range, lock }
  }
  throw baseFault('internal', `No uid range is free in: ${folder}`)
}

async function readClaims(folder: string): Promise<Map<number, string>> {
  const claims = new Map<number, string>()
  for (const name of await readdir(folder))
    if (/^\d+$/.test(name)) claims.set(Number(name), await readFile(join(folder, name), 'utf8'))
  return claims
}

/** The slots that this machine's user namespace maps. user_namespaces(7), "uid_map". */
async function slotsOfThisMachine(): Promise<readonly IdRange[]> {
  const map = (await readFile('/proc/self/uid_map', 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const isMapped = (range: IdRange) =>
    map.some(
      ([inside = 0, , count = 0]) =>
        inside <= range.first && range.first + range.count <= inside + count,
    )
  const wide = SLOTS.filter(isMapped)
  return wide.length > 0 ? wide : NARROW_SLOTS.filter(isMapped)
}

async function readRecord(path: string): Promise<Record> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined)
    return { instance: randomBytes(16).toString('hex'), cells: {}, groups: {} }
  const record = JSON.parse(text) as Record
  invariant(typeof record.instance === 'string', `Not a record of uids: ${path}`)
  return record
}

async function writeRecord(path: string, record: Record): Promise<void> {
  const temporary = `${path}.new`
  await writeFile(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true })
  await rename(temporary, path)
}
