// The root folder of a tenant's cell as steps for enter.pl: a small folder in memory, in which folders of an image, or of
// the machine's programs, are bound. A place between them (/proc, /etc/hosts, a folder in memory) splits a folder: the
// folder is made anew, and each of its other entries is bound. So nothing is written to an image.
import { type Dirent, lstatSync, opendirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { baseFault } from '#base/own-errors.ts'
import type { CellRoot, CellVolume } from '#cells/cell.ts'

const MIB = 1_048_576
const LINKS_MAX = 40
/** The limit of path_resolution(7). */
const PATH_BYTES_MAX = 4095
const NAME_BYTES_MAX = 255
/** Parts of a path with those of its links: each is a call of the disk, for which the whole agent waits. */
const PARTS_MAX = 1000
/**
 * Entries of all folders that a root folder splits: each is a mount, and words of a command line that has an end. Debian has
 * 20 in / and 150 in /etc. 16,000 stopped the agent for half a second.
 */
export const ROOT_ENTRIES_MAX = 2000
const MEMORY_BYTES = { tmp: 64 * MIB, run: 16 * MIB, 'dev/shm': 64 * MIB } as const
/** The folders of the machine that hold programs and libraries. */
const OF_PROGRAMS = new Set(['bin', 'lib', 'lib32', 'lib64', 'libx32', 'sbin', 'usr'])
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const DEVICE_LINKS = { fd: 'fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2' } as const

/** The files that Docker masks, and others that describe the machine in place of the cell. */
export const MASKED_IN_PROC =
  `acpi asound buddyinfo bus cmdline config.gz diskstats driver fs interrupts iomem ioports irq kallsyms kcore keys
  key-users kmsg kpagecgroup kpagecount kpageflags latency_stats locks mdstat modules mtrr pagetypeinfo partitions pressure
  sched_debug schedstat scsi slabinfo softirqs sysrq-trigger timer_list timer_stats vmallocinfo vmstat zoneinfo`.split(
    /\s+/,
  )

/** True for the paths that every cell without an image sees. */
export const isOfPrograms = (path: string): boolean => OF_PROGRAMS.has(path.split('/')[1] ?? '')

export type RootPlan = {
  readonly root: CellRoot
  /** An empty folder of the machine, which the new root covers in the cell's own mounts. */
  readonly stage: string
  readonly hostname: string
  /** The user of the cell on this machine, which owns its folders in memory. */
  readonly owner: { readonly uid: number; readonly gid: number }
  /** Folders of the machine that the cell reads, at their own paths. */
  readonly reads: readonly string[]
}

/** The words of enter.pl that make the root folder and enter it. Throws image_unsupported for an image that has none. */
export function planRoot({ root, stage, hostname, owner, reads }: RootPlan): string[] {
  const top = new Map<string, PathNode>()
  const put: Put = (path, ...steps) => {
    placeAt(top, path).steps ??= steps
  }
  const own = `,uid=${owner.uid},gid=${owner.gid}`
  // First, as the first one of a path stays.
  for (const { path, bytes } of root.memory ?? [])
    put(resolveIn(root.image, path), 'memory', `mode=0755,size=${bytes}${own}`)
  for (const volume of root.volumes ?? []) putVolume(top, root, volume, owner)
  put('tmp', 'memory', `mode=1777,size=${MEMORY_BYTES.tmp}`)
  put('run', 'memory', `mode=0755,size=${MEMORY_BYTES.run}${own}`)
  put('proc', 'processes')
  put('sys', 'folder')
  putDevices(put)
  const names = ['localhost', hostname, ...(root.outlet?.hosts ?? [])].join(' ')
  put('etc/hosts', 'file', `127.0.0.1 ${names}\n::1 localhost\n`)
  put('etc/hostname', 'file', `${hostname}\n`)
  put('etc/resolv.conf', 'file', '# There is no name server here.\n')
  for (const path of reads) put(path, 'bind', path)
  ensureFolder(top, root)
  const isShown = (path: string) => root.image !== undefined || isOfPrograms(`/${path}`)
  return [
    ['root', stage],
    layOut(root.image ?? '/', '', top, { isShown, left: ROOT_ENTRIES_MAX }),
    MASKED_IN_PROC.flatMap((name) => ['mask', `proc/${name}`]),
    ['freeze', 'proc/sys'],
    ['enter', hostname],
  ].flat()
}

/** Throws image_unsupported for an image that no cell can have as its root folder. */
export function assertEnterable(image: string, workingFolder: string): void {
  const owner = { uid: 0, gid: 0 }
  planRoot({ root: { image, workingFolder }, stage: '/', hostname: 'image', owner, reads: [] })
}

/** Throws image_unsupported where another mount is there. */
function putVolume(
  top: Map<string, PathNode>,
  { image: root }: CellRoot,
  { path, image }: CellVolume,
  { uid, gid }: RootPlan['owner'],
): void {
  const at = resolveIn(root, path)
  const place = placeAt(top, at)
  if (at === '' || place.steps !== undefined) throw noVolume(at)
  place.steps = ['volume', image, `${uid}:${gid}`]
}

const unfit = (why: string) => baseFault('image_unsupported', `Could not use the image: ${why}`)

const noVolume = (at: string) =>
  unfit(`a volume cannot be at /${at}, where the cell has files of its own`)

/** Steps that make folders which root can walk through: new ones, and those of the machine that the cell reads. */
const SAFE_AROUND: ReadonlySet<string> = new Set(['folder', 'memory', 'bind'])
const OF_KERNEL: ReadonlySet<string> = new Set(['processes', 'terminals', 'link'])
/** Links of /proc, and those that a program has left in a volume, would lead root out of the cell. */
const isSafeAround = (steps: readonly string[] | undefined): boolean =>
  steps === undefined || SAFE_AROUND.has(steps[0] ?? '')

const noPlace = (name: string | undefined, folder: string) =>
  unfit(`a volume cannot be at /${folder}/${name}, nor another folder of the image`)

/** Puts what a step makes at a path, inside of folders that are ours: links of an image are not followed. */
type Put = (path: string, step: string, ...words: readonly string[]) => void

function putDevices(put: Put): void {
  put('dev', 'memory', 'mode=0755,size=64k')
  for (const name of DEVICES) put(`dev/${name}`, 'device', `/dev/${name}`)
  for (const [name, to] of Object.entries(DEVICE_LINKS))
    put(`dev/${name}`, 'link', `/proc/self/${to}`)
  put('dev/pts', 'terminals')
  put('dev/ptmx', 'link', 'pts/ptmx')
  put('dev/shm', 'memory', `mode=1777,size=${MEMORY_BYTES['dev/shm']}`)
}

/** The folder that the program starts in, where the image has none. */
function ensureFolder(top: Map<string, PathNode>, { image, workingFolder }: CellRoot): void {
  if (workingFolder === undefined) return
  const path = resolveIn(image, workingFolder)
  if (isOfKernel(top, path))
    throw unfit(
      `its working folder cannot be ${quoted(`/${path}`)}, where the cell has files of its own`,
    )
  const found = image === undefined ? undefined : statOf(join(image, path))
  if (found?.isDirectory() !== true) placeAt(top, path)
}

/** Links that the kernel makes lead anywhere. */
function isOfKernel(top: ReadonlyMap<string, PathNode>, path: string): boolean {
  let within = top
  for (const part of path.split('/')) {
    const place = within.get(part)
    if (place === undefined) return false
    if (OF_KERNEL.has(place.steps?.[0] ?? '')) return true
    within = place.within
  }
  return false
}

/** A step and its words for a path, or none for a path that is only on the way to another. */
type PathNode = { steps?: readonly string[]; readonly within: Map<string, PathNode> }

function placeAt(top: Map<string, PathNode>, path: string): PathNode {
  let place: PathNode = { within: top }
  for (const part of path.split('/').filter(Boolean)) {
    const next = place.within.get(part) ?? { within: new Map() }
    place.within.set(part, next)
    place = next
  }
  return place
}

type EntryFilter = {
  readonly isShown: (path: string) => boolean
  /** The entries that may still be read. */
  left: number
}

/** The steps for a folder: entries of `source`, where that is a folder, and the places in it. */
function layOut(
  source: string | undefined,
  folder: string,
  places: ReadonlyMap<string, PathNode>,
  all: EntryFilter,
): string[] {
  const inside = (name: string) => (folder === '' ? name : `${folder}/${name}`)
  const isShown = (name: string) => all.isShown(inside(name))
  const from = (name: string) =>
    source === undefined || !isShown(name) ? undefined : join(source, name)
  const shown = source === undefined ? [] : entriesOf(source, folder, all)
  return [
    ...shown
      .filter(({ name }) => isShown(name) && !places.has(name))
      .flatMap((entry) => showEntry(entry, join(source ?? '', entry.name), inside(entry.name))),
    ...Array.from(places, ([name, { steps, within }]) => {
      if (within.size > 0 && !isSafeAround(steps))
        throw noPlace([...within.keys()][0], inside(name))
      return [
        ...makeStep(inside(name), steps),
        ...layOut(steps === undefined ? from(name) : undefined, inside(name), within, all),
      ]
    }).flat(),
  ]
}

const MOUNTS: ReadonlySet<string> = new Set(['memory', 'processes', 'terminals', 'volume'])

function makeStep(path: string, [step = 'folder', ...words]: readonly string[] = []): string[] {
  return MOUNTS.has(step) ? ['folder', path, step, path, ...words] : [step, path, ...words]
}

function showEntry(entry: Dirent, from: string, path: string): string[] {
  if (entry.isSymbolicLink()) return ['link', path, readlinkSync(from)]
  return entry.isDirectory() || entry.isFile() ? ['bind', path, from] : []
}

const statOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })

/** Stops reading at the permitted number of entries: the read blocks the agent. */
function entriesOf(source: string, folder: string, all: EntryFilter): Dirent[] {
  const entries: Dirent[] = []
  if (statOf(source)?.isDirectory() !== true) return entries
  using opened = opendirSync(source)
  for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
    if (entries.length === all.left)
      throw unfit(
        `its folder /${folder} has more than ${all.left} entries, and the folders around mounts may have ${ROOT_ENTRIES_MAX} together`,
      )
    entries.push(entry)
  }
  all.left -= entries.length
  return entries
}

/**
 * A path as a process sees it whose root folder the image is: links are followed inside of it. Throws
 * image_unsupported for a circle, and for a path that is too long.
 */
export function resolveIn(image: string | undefined, path: string): string {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) throw tooLong(path)
  const left = path.split('/')
  let at: string[] = []
  let links = 0
  let parts = 0
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    if (++parts > PARTS_MAX) throw tooLong(path)
    if (part === '' || part === '.') continue
    if (part === '..') {
      at.pop()
      continue
    }
    const found = image === undefined ? undefined : join(image, ...at, part)
    const isLong = Buffer.byteLength(found ?? part) > PATH_BYTES_MAX
    if (isLong || Buffer.byteLength(part) > NAME_BYTES_MAX) throw tooLong(path)
    if (found === undefined || statOf(found)?.isSymbolicLink() !== true) {
      at.push(part)
      continue
    }
    if (++links > LINKS_MAX) throw unfit(`its links lead in circles: ${quoted(path)}`)
    const target = readlinkSync(found)
    if (target.startsWith('/')) at = []
    left.unshift(...target.split('/'))
  }
  return at.join('/')
}

const tooLong = (path: string) => unfit(`a path is too long, also by its links: ${quoted(path)}`)
const quoted = (path: string): string => JSON.stringify(path.slice(0, 120))
