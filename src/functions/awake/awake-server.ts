// The agent's side of awake.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '#base/log.ts'
import type { UnixServer } from '#base/unix-server.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { lineOf } from '#node/agent-socket/json-lines.ts'
import { serveAgent } from '#node/agent-socket/serve-agent.ts'
import { NotWanted, type Instances } from '#resources/instances.ts'
import type { HeldFor, Resource } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import type { RunningFunction } from '#functions/driver.ts'
import { refusalLine, suspendedLine, unstarted, type FunctionAwakeLine } from './awake.ts'

export interface FunctionAwakeServer {
  listen(agent: AgentSocket): Promise<void>
  /** Ends the use of a function by all requests of now: with why, or because another version runs from now on. */
  end(id: string, line?: FunctionAwakeLine): void
  /** Refuses every request until the line is undefined. */
  refuse(id: string, line: FunctionAwakeLine | undefined): void
  close(): Promise<void>
}

export type FunctionAwakeDeps = {
  readonly state: Queryable
  readonly log: Logger
  readonly instances: Pick<Instances<Resource, RunningFunction>, 'use'>
}

export function createFunctionAwakeServer(deps: FunctionAwakeDeps): FunctionAwakeServer {
  const used = new Map<string, Set<ServerResponse>>()
  const refusals = new Map<string, FunctionAwakeLine>()
  let server: UnixServer | undefined
  const end: FunctionAwakeServer['end'] = (id, line = { replaced: true }) =>
    used.get(id)?.forEach((response) => endWith(response, line))
  const keep = (id: string, response: ServerResponse) => {
    const all = used.get(id) ?? new Set()
    used.set(id, all.add(response))
    response.once('close', () => {
      all.delete(response)
      if (all.size === 0) used.delete(id)
    })
  }
  return {
    end,
    refuse: (id, line) => void (line ? refusals.set(id, line) : refusals.delete(id)),
    async listen(agent) {
      server = await serveAgent(agent, (request, response) => {
        answer(deps, { request, response, keep, refusals }).catch((error: unknown) => {
          deps.log.error('The ingress got no answer', { error })
          response.destroy()
        })
      })
    },
    async close() {
      for (const id of used.keys()) end(id)
      await server?.close()
    },
  }
}

async function answer(
  { state, log, instances }: FunctionAwakeDeps,
  {
    request,
    response,
    keep,
    refusals,
  }: {
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly keep: (id: string, response: ServerResponse) => void
    readonly refusals: ReadonlyMap<string, FunctionAwakeLine>
  },
): Promise<void> {
  const id = (request.url ?? '').slice(1)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200)
  const known = await readFunction(state, id)
  if (known?.live !== true) return endWith(response, unwanted(known))
  try {
    const use = await instances.use(known, { cause: 'connection' }, gone.signal)
    const refusal = refusals.get(id)
    if (refusal !== undefined || gone.signal.aborted) {
      use.release()
      return endWith(response, refusal ?? unstarted(known.name))
    }
    response.once('close', () => use.release())
    keep(id, response)
    response.write(lineOf({ address: use.instance.address } satisfies FunctionAwakeLine))
  } catch (error) {
    if (gone.signal.aborted) return
    if (error instanceof NotWanted)
      return endWith(response, unwanted(await readFunction(state, id)))
    const line = refusalLine(error, known.name)
    if (line === undefined) log.error('A function did not start', { id, error })
    endWith(response, line ?? unstarted(known.name))
  }
}

type AskedFunction = Resource & {
  /** It may run, and has a version that answers. */
  readonly live: boolean
  readonly isSuspended: boolean
  readonly held: HeldFor
}

async function readFunction(state: Queryable, id: string): Promise<AskedFunction | undefined> {
  const { rows } = await state.query<AskedFunction>(
    `select id, n.account, name, wanted = 'suspended' as "isSuspended", held,
       wanted = 'deployed' and live_version is not null as live
     from resources n join functions f using (id) where id = $1`,
    [id],
  )
  return rows[0]
}

const unwanted = (known: AskedFunction | undefined): FunctionAwakeLine =>
  known?.isSuspended === true ? suspendedLine(known.name, known.held) : unstarted(known?.name ?? '')

const endWith = (response: ServerResponse, line: FunctionAwakeLine) =>
  void (response.writableEnded || response.end(lineOf(line)))
