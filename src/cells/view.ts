// The file system of a cell. In the cell's private mount namespace the permitted folders are bound at their
// own paths, so no path is rewritten. Folders of a tmpfs hide the rest; each is complete before it
// covers anything. So a clone under a
// 0700 home works, and cells of one uid (userns) do not see each other's data.
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

export type VisibleFolder = {
  readonly path: string
  /** `read` and `write` say how a folder is seen; `need` only that it must not be hidden. */
  readonly kind: 'read' | 'write' | 'need'
}
type ViewStep = { readonly path: string; readonly kind: 'hide' | 'read' | 'write' }

/**
 * The arguments of VIEW_SCRIPT. `show` are absolute real paths of existing folders; `hide` likewise.
 * With `blockedFor: 'others'` also each folder is hidden that another uid could not pass on its way
 * to one of `show`.
 */
export function planView(view: {
  readonly show: readonly VisibleFolder[]
  readonly hide: readonly string[]
  readonly blockedFor: 'others' | 'nobody'
}): string[] {
  const hidden = new Set(view.hide)
  if (view.blockedFor === 'others')
    for (const { path } of view.show) {
      const blocked = firstBlocked(path)
      if (blocked !== undefined) hidden.add(blocked)
    }
  const steps = reduce([
    ...view.show,
    ...[...hidden].map((path) => ({ path, kind: 'hide' }) as const),
  ])
  const stage = stageFor(steps)
  const hides = steps.filter((step) => step.kind === 'hide')
  const coverOf = (hide: ViewStep) => `${stage}/${hides.indexOf(hide)}`
  const shown = steps
    .filter((step) => step.kind !== 'hide')
    .map((step) => {
      const around = hides.findLast((hide) => isWithin(step.path, hide.path))
      // A folder outside all hidden folders is bound where it is.
      if (around === undefined) return { ...step, at: step.path }
      return { ...step, at: coverOf(around) + step.path.slice(around.path.length) }
    })
  const isOpen = (hide: ViewStep) => hide.path === '/tmp'
  const folders = [
    ...hides.filter((hide) => !isOpen(hide)).map(coverOf),
    ...shown.filter(({ path, at }) => at !== path).map(({ at }) => at),
  ]
  return [
    ...(hides.length > 0 ? [['empty', stage]] : []),
    ...hides.filter(isOpen).map((hide) => ['make', '1777', '1', coverOf(hide)]),
    ...(folders.length > 0 ? [['make', '0755', String(folders.length), ...folders]] : []),
    ...shown.map(({ path, at }) => ['bind', path, at]),
    // From here on nothing is looked up that is hidden: outer folders first, as inner ones are then in them.
    ...hides.map((hide) => ['bind', coverOf(hide), hide.path]),
    // Last, as a folder is bound with the flags of the one that it lies in.
    ...shown.filter(({ kind }) => kind === 'read').map(({ path }) => ['freeze', path]),
    ['empty', stage],
  ].flat()
}

/**
 * Runs the steps above as root of the namespace, then the rest of its arguments. A constant: names
 * reach it only as arguments (`eval` sees their numbers). Each step is a program, 1 to 3 ms of CPU, and
 * a node starts a dozen cells. `-n`: no /run/mount/utab, which is the host's. `--rbind`: without its
 * submounts a folder cannot be bound in a user namespace (mount_namespaces(7), locked mounts). `freeze`
 * is a call of its own: of a folder that is mounted already mount(8) keeps the other flags (nosuid,
 * nodev), also those that are locked.
 */
export const VIEW_SCRIPT = `set -e
umask 022
while [ "$1" != -- ]; do
  case "$1" in
    empty) mount -n -t tmpfs -o mode=1777 cell "$2"; shift 2 ;;
    make)
      last=$(($3 + 3)); number=4; folders=
      while [ $number -le $last ]; do
        folders="$folders \\"\\\${$number}\\""; number=$((number + 1))
      done
      eval "mkdir -p -m \\"\\$2\\" -- $folders"
      shift $last ;;
    bind) mount -n --rbind "$2" "$3"; shift 3 ;;
    freeze) mount -n -o remount,bind,ro "$2"; shift 2 ;;
    *) exit 71 ;;
  esac
done
shift
exec "$@"`

/** Outer folders first, each kept only if it changes what the step around it made of its path. */
function reduce(all: readonly (ViewStep | VisibleFolder)[]): ViewStep[] {
  const rank = { hide: 0, write: 1, read: 2, need: 3 }
  const kept: ViewStep[] = []
  for (const step of all.toSorted((a, b) =>
    a.path === b.path ? rank[a.kind] - rank[b.kind] : a.path < b.path ? -1 : 1,
  )) {
    // Without a step around it a path is as the host has it.
    const around = kept.findLast((outer) => isWithin(step.path, outer.path))?.kind ?? 'write'
    if (step.kind === 'need') {
      if (around === 'hide') kept.push({ path: step.path, kind: 'read' })
    } else if (step.kind !== around) kept.push({ path: step.path, kind: step.kind })
  }
  return kept
}

export const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

/** The first folder on the way to a path that others may not pass. */
export function firstBlocked(path: string): string | undefined {
  const parent = dirname(path)
  if (parent === path) return undefined
  return firstBlocked(parent) ?? ((statSync(parent).mode & 0o001) === 0 ? parent : undefined)
}

/** Where what covers is made ready; covered itself at the end, as the cell's own /dev/shm or an empty place. */
function stageFor(steps: readonly ViewStep[]): string {
  const isFree = (place: string) =>
    !steps.some((step) => isWithin(step.path, place) || isWithin(place, step.path)) &&
    statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
  return ['/dev/shm', '/mnt', '/srv', '/media', '/opt'].find(isFree) ?? '/dev/shm'
}
