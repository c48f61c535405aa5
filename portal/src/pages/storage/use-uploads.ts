// The uploads of a page, one after the other. An object of the same name is replaced only when
// somebody says so.
import { useEffect, useRef, useState } from 'react'
import { isProblem } from '../../client/problem.ts'
import { upload } from '../../client/upload.ts'
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
  /** Ends it, or takes a finished one from the list. */
  readonly drop: (one: Upload) => void
}

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
      if (ending.signal.aborted) remove(one.id)
      else if (isProblem(error, 'PreconditionFailed')) change(one.id, { state: 'exists' })
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
    drop: ({ id }) => {
      if (running.current?.id === id) running.current.ending.abort()
      else remove(id)
    },
  }
}
