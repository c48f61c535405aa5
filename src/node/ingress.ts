// The ingress as products see it: the process that answers at the addresses of functions and workloads. A product
// serves a kind of resource; the ingress finds the resource of a request by the routes of `set_routes()`, and has it
// run by `use`.
import type { ErgonError } from '#base/errors.ts'
import type { HeldFor, Resource } from '#resources/resource.ts'

/** The group of the sockets of accounts' instances, which the ingress calls. */
export const INSTANCE_SOCKETS = 'instances'

/** As a request finds it. */
export type RoutedResource = Resource & {
  /** Null where no version is live. */
  readonly liveVersion: number | null
}

/** `unix:<path>`, and the cell that pays for what it causes. */
export type RoutedInstance = { readonly address: string; readonly cell: string }

export type ServedKind = {
  /** A row of the table of kinds (ingress/kinds.ts). */
  readonly kind: string
  /**
   * Resolves with a running instance, which runs until the release and a while longer. Rejects with NotWanted, or with why
   * it did not start. `nth` is its number among those of the resource, from 1. `begun` is called with an instance that takes
   * connections already, while it loads.
   */
  use(
    resource: RoutedResource,
    signal: AbortSignal,
    nth: number,
    begun: (instance: RoutedInstance) => void,
  ): Promise<{
    readonly instance: RoutedInstance
    release(): void
  }>
  /** A request of the resource has not ended in its time. */
  late?(id: string): void
}

export interface ServedResources {
  /** Resolves when the ingress answers. A node on which nobody asks for that has no ingress. */
  ready(): Promise<void>
  /** Another instance runs from now on: requests of now go on, and later ones ask again. */
  replace(id: string): void
  /** Ends the requests of a resource that is suspended now, with the reason. */
  suspend(resource: Pick<Resource, 'id' | 'name'>, held: HeldFor): void
  /** Ends its requests because its energy cannot be paid, and refuses each later one until it is allowed. */
  refuse(id: string, why: ErgonError): Promise<void>
  allow(id: string): void
  /** It may run from now on: requests that were refused until now start it. */
  again(id: string): void
}

export interface NodeIngress {
  /** Answers for a kind of resource. */
  serve(kind: ServedKind): ServedResources
  close(): Promise<void>
}
