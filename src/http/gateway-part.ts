// The interface between a gateway and a product: the part that the product adds, and the core that the gateway gives
// to it. Products never import each other; a product reaches the others through the core.
import type { TimerClock } from '#base/clock.ts'
import type { ErgonError, ErrorDetails } from '#base/errors.ts'
import type { Logger, Secret } from '#base/log.ts'
import type { Charging } from '#charging/charging.ts'
import type { Session } from '#charging/session.ts'
import type { Obstacle } from '#contract/accounts/account-life.ts'
import type { Code } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import type { Payers } from '#identity/payers.ts'
import type { Identity } from '#identity/identity.ts'
import type { Marks } from '#metering/marks.ts'
import type { StackParts } from '#resources/stack-part.ts'
import type { State } from '#state/connect.ts'
import type { Pipeline } from '#state/pipeline.ts'
import type { ClientOf } from './client-of.ts'
import type { Exchange } from './exchange.ts'
import type { BrowserCredential, ProtocolHandler, Endpoint } from './protocol-handler.ts'
import type { Records } from './account-records.ts'
import type { RequestCounts } from './request-counts.ts'

export type GatewayCore = {
  /** The gateway's name: gw-1. */
  readonly name: string
  /** The other gateways of this node, with their unix sockets. */
  readonly others: readonly { readonly name: string; readonly socket: string }[]
  /** For look-ups that requests wait for: no slow query of a caller delays them. */
  readonly lookUps: State
  /** For reads that callers ask for. */
  readonly readers: State
  /** Opens a pool of connections for one product; the gateway closes it after the product. */
  readonly connect: (connections: number, further?: { readonly prepares?: boolean }) => State
  /** The same for queries that are frequent and short. */
  readonly connectPipeline: (
    connections: number,
    further?: { readonly plansOnce?: boolean },
  ) => Pipeline
  readonly session: Session
  /** The meter whose tariff is billed. */
  readonly meter: string
  readonly charging: Charging
  readonly marks: Marks
  readonly identity: Identity
  readonly payers: Payers
  /** The secret of the data folder: it deciphers secrets in the state, and keys are derived from it. */
  readonly secret: Secret
  /** The names that the service answers to, in lower case, without ports. */
  readonly hosts: readonly string[]
  /** The public address, where a proxy is in front. */
  readonly baseUrl: string | undefined
  readonly clientOf: ClientOf
  readonly clock: TimerClock
  readonly log: Logger
  readonly counts: RequestCounts
  /** Why the gateway cannot serve requests now, by any of its products; undefined when it can. */
  readonly unready: () => ErgonError | undefined
  /** The figures of all products. */
  readonly figures: () => readonly Figure[]
  /** The account parts of all products. */
  readonly accountParts: () => readonly AccountPart[]
  /** The states that the live stream tells, of all products. */
  readonly liveStates: () => LiveStates
  /** The lookups of all products. */
  readonly lookups: () => Lookups
  /** Resources that description files have, by kind. */
  readonly stackParts: StackParts
}

/** A product's half of the end of an account; the other half is `leave` of its tasks (node/tasks-part.ts). */
export type AccountPart = {
  /** Obstacles to the deletion at a time: nothing is changed while there is one. */
  obstacles?(account: string, at: Date): Promise<readonly Obstacle[]>
  /** Records for the export of an account, by their kind. */
  readonly records?: Readonly<Record<string, Records>>
}

/**
 * States that the live stream tells as they change, by their names: SQL of one JSON value, an object or a list of objects
 * with ids, for the account `a.id`. It runs each second while the account looks.
 */
export type LiveStates = Readonly<Record<string, string>>

/** Things that ids of one prefix name, and how one of an account is found. */
export type Lookup = {
  readonly kind: string
  /** `id` where the thing has another one. */
  find(
    account: string,
    id: string,
  ): Promise<{ readonly id?: string; readonly name: string; readonly path: string } | undefined>
}

/** Look-ups by the prefix of the ids. */
export type Lookups = Readonly<Record<string, Lookup>>

/** A protocol beside the JSON API, and the requests that are its own. */
export type Protocol = {
  readonly handler: ProtocolHandler
  /** Requests to a name below one of these hosts. */
  readonly below?: readonly string[]
  /** Below its hosts the health pages are its own too. */
  readonly ownsHealthPages?: true
  /** Requests to the service's own names whose path begins with one of these segments. */
  readonly segments?: readonly string[]
  /** All requests to the service's own names that nobody else claims. One protocol has them. */
  readonly rest?: true
  /** The same for pages of sites: below a first segment of their paths, by their credential. */
  readonly onSites?: {
    readonly segment: string
    open(credential: BrowserCredential): ProtocolHandler
  }
}

/** An origin of its own beside the service's names, on a port of its own. */
export type Site = {
  readonly port: number
  /** Called once, when all products are open. */
  open(all: {
    readonly api: ProtocolHandler
    readonly endpoints: Partial<Record<OperationName, Endpoint>>
    readonly protocols: readonly Protocol[]
    readonly refusalFacts: RefusalFacts
  }): {
    readonly protocolOf: (exchange: Exchange) => ProtocolHandler
    /** Refuses what no protocol was chosen for. */
    readonly fallback: ProtocolHandler
  }
}

/** A figure of Prometheus; the name gets the prefix `ergon_`. */
export type Figure = { readonly name: string; readonly help: string; readonly read: () => number }

/** Details that a refusal gets, by its code. */
export type RefusalFacts = Readonly<Partial<Record<Code, ErrorDetails>>>

export type GatewayPart = {
  readonly endpoints?: Partial<Record<OperationName, Endpoint>>
  readonly protocols?: readonly Protocol[]
  readonly sites?: readonly Site[]
  readonly figures?: readonly Figure[]
  /** Facts that refusals of the JSON API tell programs, by code, such as the page that helps. */
  readonly refusalFacts?: RefusalFacts
  readonly account?: AccountPart
  readonly live?: LiveStates
  readonly lookups?: Lookups
  /** Pages on the gateway's unix socket, for the agent. */
  readonly pages?: Readonly<Record<string, () => unknown>>
  /** Why the product cannot serve requests now; undefined when it can. */
  readonly unready?: () => ErgonError | undefined
  /** The gateway takes no new requests: answers without an end of their own end now. */
  stopping?(): void
  /** Writes what the answered requests left to do; the last request is answered, the session still lives. */
  drained?(signal: AbortSignal): Promise<void>
  close?(): Promise<void> | void
}

/** The gateway half of a product. `Settings` is what its agent half gives (`AgentPart.gateway`). */
export type GatewayProduct<Settings = never> = {
  readonly name: string
  open(core: GatewayCore, settings: Settings): Promise<GatewayPart> | GatewayPart
}
