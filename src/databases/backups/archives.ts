// The archives of all servers that run on this node: the agent says which, on a request that stays open.
import { join } from 'node:path'
import { sleep } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { request } from '#base/node-http.ts'
import { RUNNING_PATH, SECRET_HEADER } from '#databases/agent-socket/awake.ts'
import type { RunningLine } from '#databases/agent-socket/running.ts'
import { onLines } from '#databases/agent-socket/json-lines.ts'
import { SUPERUSER } from '#postgres/cluster.ts'
import { BackupFault } from './plan.ts'
import { createArchive, type LogArchive, type ArchiveDeps } from './archive.ts'

export type ArchivesDeps = ArchiveDeps & {
  readonly agent: { readonly socketPath: string; readonly secret: string }
  readonly superuserPassword: string
  readonly socketsFolder: string
}

export interface Archives {
  /** Stores what has arrived of a database. */
  flush(id: string): void
  /** Works until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

const AGAIN_MS = 500

export function createArchives(deps: ArchivesDeps): Archives {
  const { log, agent, superuserPassword: password, socketsFolder } = deps
  const archives = new Map<string, LogArchive>()
  const ends = new Set<Promise<void>>()

  function follow(running: RunningLine): void {
    for (const [id, archive] of archives) {
      if (Object.hasOwn(running, id)) continue
      archives.delete(id)
      const end = archive.end().finally(() => ends.delete(end))
      ends.add(end)
    }
    for (const [id, cell] of Object.entries(running)) {
      if (archives.has(id)) continue
      const host = join(socketsFolder, cell)
      const address = { host, user: SUPERUSER, password, database: 'postgres' }
      archives.set(id, createArchive(deps, { id, address }))
    }
  }

  return {
    flush: (id) =>
      void archives
        .get(id)
        ?.flush()
        .catch(() => undefined),
    async run(signal) {
      while (!signal.aborted) {
        await followAgent(agent, follow, signal).catch((error: unknown) => {
          if (!signal.aborted)
            log.warn('The agent does not say what runs', { error: messageOf(error) })
        })
        await sleep(AGAIN_MS, signal).catch(() => undefined)
      }
      follow({})
      await Promise.all(ends)
    },
  }
}

/** Rejects when the answer ends. */
function followAgent(
  agent: ArchivesDeps['agent'],
  follow: (running: RunningLine) => void,
  signal: AbortSignal,
): Promise<never> {
  return new Promise((_, reject) => {
    const sent = request({
      socketPath: agent.socketPath,
      path: RUNNING_PATH,
      method: 'POST',
      agent: false,
      headers: { [SECRET_HEADER]: agent.secret },
      signal,
    })
    sent.on('error', reject)
    sent.once('response', (response) => {
      onLines(response, (line) => follow(line as RunningLine))
      response.on('error', reject)
      response.on('close', () => reject(new BackupFault('the answer has ended')))
    })
    sent.end()
  })
}
