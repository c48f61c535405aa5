// The archives of all servers that run on this node: the agent says which, on a request that stays open.
import { join } from 'node:path'
import { followAgent, type AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { RUNNING_PATH } from '#databases/agent-socket/awake.ts'
import type { RunningLine } from '#databases/agent-socket/running.ts'
import { cellNameOf } from '#databases/server/cell-name.ts'
import { superuserAddress } from '#databases/server/superuser.ts'
import { createArchive, type LogArchive, type ArchiveDeps } from './archive.ts'
import type { LogCpu } from './log-cpu.ts'

export type ArchivesDeps = Omit<ArchiveDeps, 'cpu'> & {
  readonly cpu: Pick<LogCpu, 'begin'>
  readonly agent: AgentSocket
  readonly superuserPassword: string
  readonly socketsFolder: string
}

export interface Archives {
  /** Stores what has arrived of a database. */
  flush(id: string): void
  /** Works until the signal aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>
}

export function createArchives(deps: ArchivesDeps): Archives {
  const { agent, superuserPassword, socketsFolder } = deps
  const archives = new Map<string, LogArchive>()
  const ends = new Set<Promise<void>>()

  function start(id: string): void {
    if (archives.has(id)) return
    const cell = cellNameOf(id)
    const address = superuserAddress(join(socketsFolder, cell), superuserPassword)
    archives.set(id, createArchive({ ...deps, cpu: deps.cpu.begin(cell) }, { id, address }))
  }
  function stop(id: string): void {
    const archive = archives.get(id)
    if (archive === undefined) return
    archives.delete(id)
    const end = archive.end().finally(() => ends.delete(end))
    ends.add(end)
  }
  const stopBut = (ids: ReadonlySet<string>) =>
    [...archives.keys()].filter((id) => !ids.has(id)).forEach(stop)
  /** Servers that ended while the agent was not heard are in no line. */
  const begin = () => {
    const named = new Set<string>()
    return (line: unknown) => {
      const news = line as RunningLine
      if ('areAll' in news) return stopBut(named)
      if ('ended' in news) return stop(news.ended)
      named.add(news.started)
      start(news.started)
    }
  }
  return {
    flush: (id) =>
      void archives
        .get(id)
        ?.flush()
        .catch(() => undefined),
    async run(signal) {
      await followAgent(agent, { path: RUNNING_PATH, begin }, { ...deps, signal })
      stopBut(new Set())
      await Promise.all(ends)
    },
  }
}
