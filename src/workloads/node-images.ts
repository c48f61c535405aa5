// The images of this node: unpacked root folders, which one kind of process alone writes. An image comes from the files of its
// pull and goes by a rename, which no pull and no removal waits for; a child removes files.
import { existsSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ErgonError } from '#base/errors.ts'
import { baseFault } from '#base/own-errors.ts'
import { diskBytes } from '#images/disk-bytes.ts'
import { pullCellOf } from './cell-name.ts'
import type { PulledImageName, WorkloadDriver } from './driver.ts'
import { IMAGE_FILES, imageRootOf, imageWordOf, pullFolderOf, wholeRootOf } from './image-place.ts'
import { pullImage, type NodePulls } from './pull-image.ts'
import { createPullFiles } from './pull-files.ts'
import { createRemovals } from './removals.ts'

export type NodeImages = Pick<WorkloadDriver, 'pull' | 'has' | 'bytesOf' | 'prune'> & {
  /** The unpacked root folder. */
  readonly rootOf: (image: PulledImageName) => string
  /** No removal takes the image before the hold ends. */
  readonly hold: (image: PulledImageName) => Disposable
}

/** An image that nobody has can be removed while its pull finds that it is there. */
const PULLS_MAX = 3

export function createNodeImages(deps: NodePulls): NodeImages {
  const { folder, pull = pullImage } = deps
  const rootOf = (image: PulledImageName) => imageRootOf(folder, image)
  const holds = createHolds()
  const removals = createRemovals(folder)
  const files = createPullFiles(removals, deps.leftMs)
  const isFree = (place: string, part: string, name: string, wanted: ReadonlySet<string>) => {
    if (part === IMAGE_FILES.pulls) return !files.has(name)
    const word = `${place}-${name}`
    return part !== IMAGE_FILES.roots || !(wanted.has(word) || holds.has(word))
  }
  const removeUnwanted = async (wanted: ReadonlySet<string>) => {
    for (const place of await entriesOf(folder)) {
      for (const part of await entriesOf(join(folder, place)))
        for (const name of await entriesOf(join(folder, place, part)))
          // The check and the rename are one step: nothing is held between them.
          if (isFree(place, part, name, wanted)) removals.take(join(folder, place, part, name))
      // A pull makes its folders after it has begun.
      if (!files.isUsed(join(folder, place))) removeEmpty(join(folder, place))
    }
  }
  /** True where the image is there. Taken among the images when it is held: no removal comes between. */
  const isPlaced = (image: PulledImageName, work: string) => {
    const whole = wholeRootOf(work, image.digest)
    if (!existsSync(rootOf(image)) && existsSync(whole)) renameSync(whole, rootOf(image))
    return existsSync(rootOf(image))
  }
  let pruning: Promise<unknown> = Promise.resolve()
  return {
    rootOf,
    hold: (image) => holds.hold(imageWordOf(image)),
    has: (image) => existsSync(rootOf(image)),
    bytesOf: async (image, signal) =>
      existsSync(rootOf(image)) ? await diskBytes(rootOf(image), signal) : 0,
    async pull(wanted, progress, signal) {
      const cell = pullCellOf(wanted)
      const work = pullFolderOf(folder, wanted, cell)
      const own = { cell, account: wanted.account, folder: work }
      files.begin(own)
      let isOfUse = false
      try {
        for (let tries = 0; tries < PULLS_MAX; tries++) {
          const { digest, config, bytes } = await pull(deps, wanted, progress, signal)
          const image = { image: wanted.image, digest }
          const word = imageWordOf(image)
          using stack = new DisposableStack()
          stack.use(holds.hold(word))
          if (!isPlaced(image, work)) continue
          const held = stack.move()
          const dispose = () => held.dispose()
          return { digest, config, bytes, copies: 1, word, [Symbol.dispose]: dispose }
        }
        throw baseFault('internal', `An image is removed after each pull: ${wanted.id}`)
      } catch (error) {
        isOfUse = isBroken(error)
        throw error
      } finally {
        files.end(own, isOfUse)
      }
    },
    async prune(wanted) {
      const own = pruning.then(async () => {
        using _ = holds.remember()
        await removeUnwanted(await wanted())
      })
      pruning = own.catch(() => undefined)
      await own
      removals.run()
    },
  }
}

/** Another try may go on where the pull was: a registry breaks off, or a wake has no more time. */
const isBroken = (error: unknown): boolean =>
  error instanceof ErgonError
    ? error.code === 'registry_unreachable'
    : error instanceof DOMException && error.name === 'TimeoutError'

/**
 * The images that are held. Those that were held since a removal began are held until its end: their version may be
 * younger than what the removal has read of the state.
 */
function createHolds() {
  const held = new Map<string, number>()
  let remembered: Set<string> | undefined
  return {
    has: (word: string) => held.has(word) || remembered?.has(word) === true,
    hold(word: string): Disposable {
      held.set(word, (held.get(word) ?? 0) + 1)
      remembered?.add(word)
      return {
        [Symbol.dispose]() {
          const left = (held.get(word) ?? 1) - 1
          if (left === 0) held.delete(word)
          else held.set(word, left)
        },
      }
    },
    remember(): Disposable {
      remembered = new Set(held.keys())
      return { [Symbol.dispose]: () => void (remembered = undefined) }
    },
  }
}

/** Removes the folder of a repository that has no files. */
function removeEmpty(place: string): void {
  try {
    for (const part of readdirSync(place)) rmdirSync(join(place, part))
    rmdirSync(place)
  } catch {
    // There are some.
  }
}

/** None of what is no folder, or gone; names with a point before them are ours. */
const entriesOf = (path: string): Promise<string[]> =>
  readdir(path).then(
    (names) => names.filter((name) => !name.startsWith('.')),
    () => [],
  )
