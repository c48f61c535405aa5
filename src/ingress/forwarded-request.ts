// A request as it goes to an instance.
import type { Tariff } from '#charging/tariff.ts'
import type { RoutedKind } from './kinds.ts'
import type { InstancePool } from './instance-pool.ts'
import type { RequestEnding } from './request-ending.ts'

export type ForwardedRequest = {
  readonly requestId: string
  readonly pool: InstancePool
  readonly kind: RoutedKind
  /** The name that the client asked for. */
  readonly host: string
  /** As the resource sees it. */
  readonly path: string
  readonly url: string
  readonly prefix: string
  readonly tariff: Tariff | undefined
  readonly ending: RequestEnding
  /** Headers of ours for the answer. */
  readonly added: Readonly<Record<string, string>>
  readonly silenceMs: number | undefined
  /** A proxy of the operator, whose headers say who asked. */
  trusts(address: string): boolean
  /** Called when our runtime says that the request waits for its turn, and that it begins. */
  waits(): void
  /** Called when its answer begins, or it is a connection of its own from now on. */
  begun(isUpgrade: boolean): void
}
