// Images in the engine: made of the root folder that this node has pulled and checked, so that the engine asks no registry.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { PulledImageName } from '#workloads/driver.ts'
import { imageWordOf } from '#workloads/image-place.ts'
import { EngineFault, type ContainerEngine } from './engine.ts'

export interface EngineImages {
  /** The name of the image in the engine, which gets it where it is absent. */
  give(image: PulledImageName, root: string): Promise<string>
  /** Removes those of this installation but those of the words, and those that are being given. */
  prune(keep: ReadonlySet<string>): Promise<void>
}

type ListedImage = { readonly RepoTags?: readonly string[] | null }

const GIVE_MS = 600_000
const ABSENT = 404
const IN_USE = 409
/** Behind the name of an image that is being given. */
const PART = '-part'
const PART_END = /-part$/

export function createEngineImages(engine: ContainerEngine, installation: string): EngineImages {
  const repository = `localhost/ergon-${installation}`
  const giving = new Map<string, Promise<string>>()
  const give = async (name: string, root: string) => {
    if (!(await isThere(engine, name))) await importRoot(engine, name, root)
    return name
  }
  return {
    give(image, root) {
      const name = `${repository}/${imageWordOf(image)}`
      const begun = giving.get(name) ?? give(name, root).finally(() => giving.delete(name))
      giving.set(name, begun)
      return begun
    },
    async prune(keep) {
      const isKept = (name: string) =>
        keep.has(name.slice(repository.length + 1)) || giving.has(name.replace(PART_END, ''))
      const all = await engine.ask<readonly ListedImage[]>('GET', '/images/json')
      for (const tag of all.flatMap(({ RepoTags }) => RepoTags ?? [])) {
        const name = tag.replace(/:[^/]*$/, '')
        if (!name.startsWith(`${repository}/`) || isKept(name)) continue
        await engine.ask('DELETE', `/images/${tag}`).catch((error: unknown) => {
          if (!(error instanceof EngineFault && error.status === IN_USE)) throw error
        })
      }
    },
  }
}

const isThere = (engine: ContainerEngine, name: string): Promise<boolean> =>
  engine.ask('GET', `/images/${name}/json`).then(
    () => true,
    (error: unknown) => {
      if (error instanceof EngineFault && error.status === ABSENT) return false
      throw error
    },
  )

/** An image whose files were read in part never has the name: an end of this process on the way leaves another one. */
async function importRoot(engine: ContainerEngine, name: string, root: string): Promise<void> {
  // Folders that no layer names are closed to others, and the container's user is another.
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX']
  const words = ['-C', root, ...owner, '-c', '.']
  const tar = spawn('tar', words, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(tar, 'close')
  const part = `${name}${PART}`
  const path = `/images/create?fromSrc=-&repo=${encodeURIComponent(part)}`
  try {
    await engine.send(path, tar.stdout, AbortSignal.timeout(GIVE_MS))
  } finally {
    // One that has more to write ends by it; one that has written all has its own exit yet to come.
    tar.stdout.destroy()
  }
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new EngineFault(0, `the files of an image could not be read: tar ${code}`)
  await engine.ask('POST', `/images/${part}/tag?repo=${encodeURIComponent(name)}&tag=latest`)
  await engine.ask('DELETE', `/images/${part}`)
}
