// What a cell sees of the file system. In its private mount namespace the folders that it may use are
// bound at their own paths, so no path is ever rewritten; what surrounds them is hidden by empty tmpfs.
// So a clone under a 0700 home works, and cells of one uid (userns) do not see each other's data.
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

export type Show = {
  readonly path: string
  /** `read` and `write` say how a folder is seen; `need` only that it must not be hidden. */
  readonly kind: 'read' | 'write' | 'need'
}
type Step = { readonly path: string; readonly kind: 'hide' | 'read' | 'write' }

/**
 * The arguments of VIEW_SCRIPT. `show` are absolute real paths of existing folders; `hide` likewise.
 * With `blockedFor: 'others'` also each folder is hidden that another uid could not pass on its way
 * to one of `show`.
 */
export function planView(view: {
  readonly show: readonly Show[]
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
  const shown = steps.filter((step) => step.kind !== 'hide')
  const stage = stageFor(steps)
  const make = (step: Step): string[] => {
    if (step.kind === 'hide') return ['hide', step.path === '/tmp' ? '1777' : '0755', step.path]
    const put = ['put', `${stage}/${shown.indexOf(step)}`, step.path]
    return step.kind === 'read' ? [...put, 'freeze', step.path] : put
  }
  const take = shown.map(({ path }, index) => ['take', path, `${stage}/${index}`])
  return [['hide', '1777', stage], ...take, ...steps.map(make), ['drop', stage]].flat()
}

/**
 * Runs the steps above as root of the namespace, then the rest of its arguments. A constant: names
 * reach it only as arguments. `-n`: no /run/mount/utab, which is the host's. `--rbind`: without its
 * submounts a folder cannot be bound in a user namespace (mount_namespaces(7), locked mounts).
 */
export const VIEW_SCRIPT = `set -e
umask 022
while [ "$1" != -- ]; do
  case "$1" in
    hide) mount -n -t tmpfs -o "mode=$2" cell "$3"; shift 3 ;;
    take) mkdir "$3"; mount -n --rbind "$2" "$3"; shift 3 ;;
    put) mkdir -p "$3"; mount -n --move "$2" "$3"; shift 3 ;;
    freeze) mount -n -o remount,bind,ro "$2"; shift 2 ;;
    drop) rmdir "$2"/*; shift 2 ;;
    *) exit 71 ;;
  esac
done
shift
exec "$@"`

/** Outer folders first, each kept only if it changes what the step around it made of its path. */
function reduce(all: readonly (Step | Show)[]): Step[] {
  const rank = { hide: 0, write: 1, read: 2, need: 3 }
  const kept: Step[] = []
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

/** Where folders wait while their paths are hidden: the cell's own /dev/shm, or another empty place. */
function stageFor(steps: readonly Step[]): string {
  const isFree = (place: string) =>
    !steps.some((step) => isWithin(step.path, place) || isWithin(place, step.path)) &&
    statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
  return ['/dev/shm', '/mnt', '/srv', '/media', '/opt'].find(isFree) ?? '/dev/shm'
}
