// The agent's side of awake.ts.
import type { Logger } from '#base/log.ts'
import { repeatedFailuresOf, type RepeatedFailure } from '#base/repeated-failures.ts'
import { CERTIFICATES_PATH, type ServedCertificates } from '#ingress/certificates/served.ts'
import { isRoutedKind, type RoutedKind } from '#ingress/kinds.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { serveAgent, type AgentServer, type OpenRequest } from '#node/agent-socket/serve-agent.ts'
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
  readonly request: OpenRequest
  readonly keep: (id: string, request: OpenRequest<WakeLine>) => void
  readonly refusals: ReadonlyMap<string, WakeLine>
  readonly replacements: ReadonlyMap<string, number>
  readonly resources: LastKnown<WakeableResource | undefined>
  readonly standing: StandingRefusals
  readonly tellFailed: (failure: RepeatedFailure) => void
}

export function createWakeServer(deps: WakeServerDeps): WakeServer {
  const used = new Map<string, Set<OpenRequest<WakeLine>>>()
  const refusals = new Map<string, WakeLine>()
  const replacements = new Map<string, number>()
  const resources = createLastKnown((id) => readAsked(deps.state, id))
  const standing = createStandingRefusals()
  const tellFailed = repeatedFailuresOf(deps.log)
  let server: AgentServer | undefined
  const end: WakeServer['end'] = (id, line) => {
    resources.forget(id)
    standing.again(id)
    used.get(id)?.forEach((request) => request.end(line))
  }
  const keep = (id: string, request: OpenRequest<WakeLine>) => {
    const all = used.get(id) ?? new Set()
    used.set(id, all.add(request))
    request.whenEnded(() => {
      all.delete(request)
      if (all.size === 0) used.delete(id)
    })
  }
  return {
    end,
    replace(id) {
      resources.forget(id)
      standing.again(id)
      replacements.set(id, (replacements.get(id) ?? 0) + 1)
      used.get(id)?.forEach((request) => request.say(REPLACED))
    },
    again: (of) => standing.again(of),
    refuse: (id, line) => void (line ? refusals.set(id, line) : refusals.delete(id)),
    async listen(agent) {
      server = await serveAgent(agent, (request) => {
        const shared = { keep, refusals, replacements, resources, standing, tellFailed }
        answer(deps, { request, ...shared }).catch((error: unknown) => {
          tellFailed({ level: 'error', message: 'The ingress got no answer', subject: '', error })
          request.destroy()
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
  const { request } = question
  if (request.path === CERTIFICATES_PATH) return deps.certificates.follow(request)
  const { id, nth } = instanceOfPath(request.path)
  const gone = new AbortController()
  request.whenEnded(() => gone.abort())
  await wake(deps, question, { id, nth }, gone.signal)
}

async function wake(
  deps: WakeServerDeps,
  question: WakeRequest,
  asked: ReturnType<typeof instanceOfPath>,
  gone: AbortSignal,
): Promise<void> {
  const { request, keep, refusals, replacements, resources, standing } = question
  const { id, nth } = asked
  // Before the live version is read: it may be another one since.
  const replacedBefore = replacements.get(id)
  const { changes } = standing
  const known = await resources.read(id)
  // It has just been deleted.
  if (known === undefined) return request.end(REPLACED)
  const refuse = (line: WakeLine) => standing.answer({ resource: known, request, line }, changes)
  if (known.wanted !== 'deployed') return refuse(unwanted(known))
  const kind = deps.kinds.get(known.kind)
  request.onLine = () => kind?.late?.(id)
  let isLoading = false
  const begun = ({ address, cell }: RoutedInstance) => {
    if (gone.aborted || refusals.has(id) || replacements.get(id) !== replacedBefore) return
    isLoading = true
    request.say({ address, cell, isLoading } satisfies WakeLine)
  }
  try {
    const use = await kind?.use(known, gone, nth, begun)
    const refusal = refusals.get(id)
    if (use === undefined || refusal !== undefined || gone.aborted) {
      use?.release()
      return request.end(refusal ?? unstarted(known))
    }
    // The use is of an earlier version, and nobody would tell this request so.
    const isReplaced = replacements.get(id) !== replacedBefore
    if (isReplaced && !isLoading) {
      use.release()
      return await wake(deps, question, asked, gone)
    }
    request.whenEnded(() => use.release())
    keep(id, request)
    const { address, cell } = use.instance
    request.say(isLoading ? { loaded: true } : { address, cell })
    // Requests may be there already: they end, and later ones ask again.
    if (isReplaced) request.say(REPLACED)
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
