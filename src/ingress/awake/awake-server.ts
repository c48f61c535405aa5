// The agent's side of awake.ts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '#base/log.ts'
import { repeatedFailuresOf, type RepeatedFailure } from '#base/repeated-failures.ts'
import type { UnixServer } from '#base/unix-server.ts'
import { CERTIFICATES_PATH, type ServedCertificates } from '#ingress/certificates/served.ts'
import { isRoutedKind, type RoutedKind } from '#ingress/kinds.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { lineOf, onLines } from '#node/agent-socket/json-lines.ts'
import { serveAgent } from '#node/agent-socket/serve-agent.ts'
import type { RoutedInstance, RoutedResource, ServedKind } from '#node/ingress.ts'
import { NotWanted } from '#resources/instances.ts'
import { createLastKnown, type LastKnown } from '#resources/last-known.ts'
import type { HeldFor } from '#resources/resource.ts'
import type { Queryable } from '#state/connect.ts'
import {
  instanceOfPath,
  refusalLine,
  suspendedLine,
  unlive,
  unstarted,
  type WakeLine,
} from './awake.ts'
import { createStandingRefusals, type StandingRefusals } from './standing-refusals.ts'

export interface WakeServer {
  listen(agent: AgentSocket): Promise<void>
  /** Ends the use of a resource by all requests of now, with why. */
  end(id: string, line: WakeLine): void
  /** Another instance runs from now on. The one before stays in use until its last request has ended. */
  replace(id: string): void
  /** Refuses every request until the line is undefined. */
  refuse(id: string, line: WakeLine | undefined): void
  /** A resource, or all of an account, may run from now on: refusals that stand end. */
  again(of: string): void
  close(): Promise<void>
}

export type WakeServerDeps = {
  readonly state: Queryable
  readonly log: Logger
  /** The kinds that are served, by their names. */
  readonly kinds: ReadonlyMap<string, ServedKind>
  readonly certificates: Pick<ServedCertificates, 'follow'>
}

type WakeRequest = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly keep: (id: string, response: ServerResponse) => void
  readonly refusals: ReadonlyMap<string, WakeLine>
  readonly replacements: ReadonlyMap<string, number>
  readonly resources: LastKnown<WakeableResource | undefined>
  readonly standing: StandingRefusals
  readonly tellFailed: (failure: RepeatedFailure) => void
}

export function createWakeServer(deps: WakeServerDeps): WakeServer {
  const used = new Map<string, Set<ServerResponse>>()
  const refusals = new Map<string, WakeLine>()
  const replacements = new Map<string, number>()
  const resources = createLastKnown((id) => readAsked(deps.state, id))
  const standing = createStandingRefusals()
  const tellFailed = repeatedFailuresOf(deps.log)
  let server: UnixServer | undefined
  const end: WakeServer['end'] = (id, line) => {
    resources.forget(id)
    standing.again(id)
    used.get(id)?.forEach((response) => endWith(response, line))
  }
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
    replace(id) {
      resources.forget(id)
      standing.again(id)
      replacements.set(id, (replacements.get(id) ?? 0) + 1)
      used.get(id)?.forEach((response) => isOpen(response) && response.write(lineOf(REPLACED)))
    },
    again: (of) => standing.again(of),
    refuse: (id, line) => void (line ? refusals.set(id, line) : refusals.delete(id)),
    async listen(agent) {
      server = await serveAgent(agent, (request, response) => {
        const shared = { keep, refusals, replacements, resources, standing, tellFailed }
        answer(deps, { request, response, ...shared }).catch((error: unknown) => {
          tellFailed({ level: 'error', message: 'The ingress got no answer', subject: '', error })
          response.destroy()
        })
      })
    },
    async close() {
      for (const id of used.keys()) end(id, REPLACED)
      standing.close()
      await server?.close()
    },
  }
}

const REPLACED: WakeLine = { replaced: true }

async function answer(deps: WakeServerDeps, question: WakeRequest): Promise<void> {
  const { request, response } = question
  if (request.url === CERTIFICATES_PATH) return deps.certificates.follow(response.writeHead(200))
  const { id, nth } = instanceOfPath(request.url ?? '')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200)
  await wake(deps, question, { id, nth }, gone.signal)
}

async function wake(
  deps: WakeServerDeps,
  question: WakeRequest,
  asked: ReturnType<typeof instanceOfPath>,
  gone: AbortSignal,
): Promise<void> {
  const { request, response, keep, refusals, replacements, resources, standing } = question
  const { id, nth } = asked
  // Before the live version is read: it may be another one since.
  const replacedBefore = replacements.get(id)
  const { changes } = standing
  const known = await resources.read(id)
  // It has just been deleted.
  if (known === undefined) return endWith(response, REPLACED)
  const refuse = (line: WakeLine) => standing.answer({ resource: known, response, line }, changes)
  if (known.wanted !== 'deployed') return refuse(unwanted(known))
  const kind = deps.kinds.get(known.kind)
  let isLoading = false
  const begun = ({ address, cell }: RoutedInstance) => {
    if (gone.aborted || refusals.has(id) || replacements.get(id) !== replacedBefore) return
    isLoading = true
    response.write(lineOf({ address, cell, isLoading } satisfies WakeLine))
  }
  try {
    const use = await kind?.use(known, gone, nth, begun)
    const refusal = refusals.get(id)
    if (use === undefined || refusal !== undefined || gone.aborted) {
      use?.release()
      return endWith(response, refusal ?? unstarted(known))
    }
    // The use is of an earlier version, and nobody would tell this request so.
    const isReplaced = replacements.get(id) !== replacedBefore
    if (isReplaced && !isLoading) {
      use.release()
      return await wake(deps, question, asked, gone)
    }
    response.once('close', () => use.release())
    keep(id, response)
    onLines(request, () => kind?.late?.(id))
    const { address, cell } = use.instance
    response.write(lineOf(isLoading ? { loaded: true } : { address, cell }))
    // Requests may be there already: they end, and later ones ask again.
    if (isReplaced) response.write(lineOf(REPLACED))
  } catch (error) {
    if (!gone.aborted) refuse(await lineOfFailure(deps, question, { known, error }))
  }
}

async function lineOfFailure(
  { state }: WakeServerDeps,
  { tellFailed }: WakeRequest,
  { known, error }: { readonly known: WakeableResource; readonly error: unknown },
): Promise<WakeLine> {
  const { id } = known
  if (error instanceof NotWanted) return unwanted((await readAsked(state, id)) ?? known)
  const line = refusalLine(error, known)
  if (line === undefined) {
    const message = 'A resource did not start'
    tellFailed({ level: 'error', message, subject: id, error, fields: { id } })
  }
  return line ?? unstarted(known)
}

type WakeableResource = RoutedResource & {
  readonly kind: RoutedKind
  readonly wanted: string
  readonly held: HeldFor
}

async function readAsked(state: Queryable, id: string): Promise<WakeableResource | undefined> {
  const { rows } = await state.query<WakeableResource>(
    `select id, kind, account, name, wanted, held, live_version as "liveVersion" from resources where id = $1`,
    [id],
  )
  return rows.find(({ kind }) => isRoutedKind(kind))
}

function unwanted(known: WakeableResource): WakeLine {
  if (known.wanted === 'suspended') return suspendedLine(known, known.held)
  return known.liveVersion === null ? unlive(known) : unstarted(known)
}

const endWith = (response: ServerResponse, line: WakeLine) =>
  void (isOpen(response) && response.end(lineOf(line)))

const isOpen = ({ writableEnded, destroyed }: ServerResponse): boolean =>
  !writableEnded && !destroyed
