// The interface between the agent and a product: the product's part, and the core that the agent gives to it.
import type { Artifacts } from '#artifacts/fetch.ts'
import type { Logger } from '#base/log.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import type { Queryable, State, StateAddress } from '#state/connect.ts'
import type { AccountCells } from './account-cells.ts'
import type { ProgramPlace } from './cell-specs.ts'
import type { ControlPart } from './control/control.ts'
import type { DataFolder } from './data-folder.ts'
import type { NodeEgress } from './egress.ts'
import type { AddressedNode, OwnAddress } from './own-addresses.ts'
import type { NodeIngress } from './ingress.ts'
import type { KeptJournals } from './kept-journals.ts'
import type { Meter } from './meter/meter.ts'
import type { Program } from './program-flags.ts'
import type { Reporter } from './report.ts'
import type { CellStage } from './stop-budget.ts'

export type OnPayable = (act: (of: string) => void) => void

export type AgentCore = {
  readonly config: Config
  readonly data: DataFolder
  readonly cells: Cells
  readonly state: State
  /** The state for reads of small rows that a start waits for, see connectWakes(). Sources of code are read by `state`. */
  readonly wakes: Queryable
  /** The address of the state for cells. */
  readonly address: StateAddress
  readonly place: ProgramPlace
  readonly meter: Meter
  /** The meter whose tariff is billed. */
  readonly meterName: string
  /** X-Routed-To of work on this machine. */
  readonly routedTo: string
  /** Energy that is held ahead for cells that accounts pay for. */
  readonly accountCells: AccountCells
  /** Calls back with the resource of each budget, and with each account, that may have more energy or money from now on. */
  readonly onPayable: OnPayable
  /** The end of what an earlier life of the agent left uncharged of each resource, by its id. */
  readonly leftToMs: ReadonlyMap<string, number>
  /** The program that answers at the routes of resources. */
  readonly ingress: NodeIngress
  /** The way out for code of accounts. */
  readonly egress: NodeEgress
  /** Ports of the service that tenants may ask at this machine's public addresses. */
  readonly servedPorts: readonly number[]
  readonly artifacts: Artifacts
  readonly journals: KeptJournals
  readonly report: Reporter
  readonly log: Logger
  /** The access key of a token, for clients that sign requests. */
  readonly keyPairOf: (token: string) => { readonly id: string; readonly secret: string }
  /** An address that reads an object for a day, while the token is valid. */
  readonly presignedUrl: (object: ReadObject) => Promise<string>
}

/** An object, and the token by which it is read. */
export type ReadObject = {
  readonly account: string
  readonly token: string
  readonly bucket: string
  readonly key: string
}

export type AgentPart = {
  /** For the gateway half: its settings, as JSON, and the folders and sockets that its process may write and call. */
  readonly gateway?: {
    readonly settings?: object
    readonly writes?: readonly string[]
    /** Socket groups. */
    readonly calls?: readonly string[]
  }
  /** For its tasks: settings, as JSON, and the folders that the process of tasks may write for them. */
  readonly tasks?: { readonly settings: object; readonly writes?: readonly string[] }
  /** The operator's operations, by name: `ControlHandlers` of the area's table, contract/<area>/control.ts. */
  readonly control?: ControlPart
  /** Starts the parts that the gateways do not wait for; resolves with the failed ones, in words. */
  start?(signal: AbortSignal): Promise<readonly string[] | void>
  /** Called at a stop when the cells of the stage `gateways` have ended, and before the others end. */
  close?(): Promise<void>
  /** Its cells by the beginning of their names, and the stage of a stop in which they end. */
  readonly cells?: readonly { readonly stage: CellStage; readonly name: string }[]
}

/** The agent half of a product. */
export type AgentProduct = {
  readonly name: string
  /** Programs that run as its cells: their code is compiled before the first of them starts. */
  readonly programs?: readonly Program[]
  /** Names of its cells that keep a journal. Each start of the agent posts it, as such a cell may start later or never. */
  readonly journals?: (config: Config) => readonly string[]
  /** Its addresses that code of accounts may reach. */
  readonly addresses?: (node: AddressedNode) => readonly OwnAddress[]
  open(core: AgentCore, signal: AbortSignal): Promise<AgentPart> | AgentPart
}
