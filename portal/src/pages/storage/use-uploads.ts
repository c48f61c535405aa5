// The uploads of a page, one after the other. An object of the same name is replaced only when somebody says so. A large
// file that was cut off goes on where it was; stopped by its button, its parts are removed.
import { useEffect, useRef, useState } from 'react'
import { isProblem } from '#console/client/problem.ts'
import { begunUploads, type BegunUpload } from '#console/client/begun-uploads.ts'
import { discard, discardOf } from '#console/client/multipart.ts'
import { goesInParts, upload } from '#console/client/upload.ts'
import { objectsChanged } from './use-storage.ts'

export type Upload = {
  readonly id: number
  readonly key: string
  readonly file: File
  readonly sent: number
  /** True: an object of this name is replaced. */
  readonly replaces: boolean
  readonly state: 'waits' | 'runs' | 'exists' | 'failed'
  readonly error?: unknown
}

export type Uploads = {
  readonly list: readonly Upload[]
  readonly add: (files: readonly File[], prefix: string) => void
  readonly replace: (one: Upload) => void
  /** One that failed is tried again. */
  readonly again: (one: Upload) => void
  /** Ends it, or takes a finished one from the list. */
  readonly drop: (one: Upload) => void
  /** Uploads in parts that this browser began at another time. */
  readonly begun: readonly BegunUpload[]
  readonly discard: (begun: BegunUpload) => Promise<void>
}

const STOPPED = 'stopped by its button'

let lastId = 0

export function useUploads(bucket: string): Uploads {
  const [list, setList] = useState<readonly Upload[]>([])
  const running = useRef<{ readonly id: number; readonly ending: AbortController }>(undefined)
  const change = (id: number, fields: Partial<Upload>) =>
    setList((all) => all.map((one) => (one.id === id ? { ...one, ...fields } : one)))
  const remove = (id: number) => setList((all) => all.filter((one) => one.id !== id))

  const run = async (one: Upload) => {
    const ending = new AbortController()
    running.current = { id: one.id, ending }
    change(one.id, { state: 'runs', sent: 0 })
    try {
      await upload({ bucket, key: one.key }, one.file, {
        replaces: one.replaces,
        signal: ending.signal,
        onProgress: (sent) => change(one.id, { sent }),
      })
      remove(one.id)
      await objectsChanged()
    } catch (error) {
      if (ending.signal.aborted) {
        // A small file that is stopped takes nothing from the other file whose parts are kept under its name.
        const hasParts = ending.signal.reason === STOPPED && goesInParts(one.file)
        const place = { bucket, key: one.key }
        await (hasParts ? discardOf(place) : Promise.resolve()).then(
          () => remove(one.id),
          (failure: unknown) => change(one.id, { state: 'failed', error: failure }),
        )
      } else if (isProblem(error, 'PreconditionFailed')) change(one.id, { state: 'exists' })
      else change(one.id, { state: 'failed', error })
    } finally {
      running.current = undefined
    }
  }

  const isRunning = list.some(({ state }) => state === 'runs')
  const next = isRunning ? undefined : list.find(({ state }) => state === 'waits')
  useEffect(() => {
    if (next !== undefined && running.current === undefined) void run(next)
  })
  useEffect(() => () => running.current?.ending.abort(), [])

  return {
    list,
    add: (files, prefix) =>
      setList((all) => [
        ...all,
        ...files.map((file) => ({
          id: ++lastId,
          key: prefix + file.name,
          file,
          sent: 0,
          replaces: false,
          state: 'waits' as const,
        })),
      ]),
    replace: ({ id }) => change(id, { replaces: true, state: 'waits' }),
    again: ({ id }) => change(id, { state: 'waits' }),
    drop: ({ id }) => {
      if (running.current?.id === id) running.current.ending.abort(STOPPED)
      else remove(id)
    },
    begun: begunUploads.in(bucket).filter(({ key }) => !list.some((one) => one.key === key)),
    discard: async (begun) => {
      await discard(begun)
      setList((all) => [...all])
    },
  }
}
