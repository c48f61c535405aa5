// Uids and gids of cells. A file and a flock on it claim a range for the whole machine, so two instances never
// share a uid. Within the range every cell name keeps its number from start to start. Once all are given, the number of a
// name that nothing exists of is given to another: of one that owns no folder, while no cell of it runs.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'

import { ErgonError, invariant } from '#base/errors.ts'
import { type FileLock, lockFile } from '#base/lock.ts'

export type IdRange = { readonly first: number; readonly count: number }

export type Uids = {
  readonly range: IdRange
  /**
   * The uid, and gid, of a name: the same at every start, as long as it owns folders or numbers are left. It is kept for the
   * name until as many calls of `rest`.
   */
  uidOf(name: string, owns: 'folders' | 'nothing'): Promise<number>
  /** No process of a cell of the name is left. */
  rest(name: string): void
  /** The folders that a name owned are removed. */
  disown(name: string): Promise<void>
  /** The gid of a socket group. */
  gidOf(group: string): Promise<number>
  release(): Promise<void>
}

type Names = { [name: string]: number }

type Record = {
  readonly instance: string
  range?: IdRange
  readonly cells: Names
  readonly groups: Names
  /** The names of cells that own nothing. Those of older records may own folders. */
  bare?: { [name: string]: true }
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
  const bare = (record.bare ??= {})
  const uses = new Map<string, number>()
  // Two cells started at once must not get the same number.
  const inTurn = createTurns()
  const write = () => writeRecord(deps.recordPath, record)
  const spare = () => {
    const name = Object.keys(bare).find((one) => !uses.has(one))
    if (name !== undefined) delete bare[name]
    return name
  }
  return {
    range,
    uidOf: (name, owns) =>
      inTurn(async () => {
        const isNew = !Object.hasOwn(record.cells, name)
        const isBare = owns === 'nothing' && (isNew || bare[name] === true)
        const number = numberOf(record.cells, name, half, spare)
        const isChanged = isNew || (bare[name] === true) !== isBare
        if (isBare) bare[name] = true
        else delete bare[name]
        if (isChanged) await write()
        uses.set(name, (uses.get(name) ?? 0) + 1)
        return range.first + number
      }),
    rest(name) {
      const left = (uses.get(name) ?? 0) - 1
      if (left > 0) uses.set(name, left)
      else uses.delete(name)
    },
    disown: (name) =>
      inTurn(async () => {
        if (!Object.hasOwn(record.cells, name) || bare[name] === true) return
        bare[name] = true
        await write()
      }),
    gidOf: (group) =>
      inTurn(async () => {
        const isNew = !Object.hasOwn(record.groups, group)
        const number = numberOf(record.groups, group, half, () => undefined)
        if (isNew) await write()
        return range.first + half + number
      }),
    release: () => lock.release(),
  }
}

/** The number of a name, below `most`. Numbers have no gaps: a spare name gives its number to another at once. */
function numberOf(
  names: Names,
  name: string,
  most: number,
  spare: () => string | undefined,
): number {
  const known = Object.hasOwn(names, name) ? names[name] : undefined
  if (known !== undefined) return known
  const count = Object.keys(names).length
  const other = count < most ? undefined : spare()
  const next = other === undefined ? count : (names[other] ?? most)
  if (next >= most) throw baseFault('internal', `No number is left in the uid range for: ${name}`)
  if (other !== undefined) delete names[other]
  names[name] = next
  return next
}

/** Runs acts one after another; a failed one does not stop the next. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
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
