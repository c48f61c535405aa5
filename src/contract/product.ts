// The public declaration of a product: its operations and how HTTP names them. Its schemas, which need zod, are
// in a file beside it; its settings in config/settings/.
import type { Operation } from './operation.ts'

/** The methods that routes of the API may have. */
export const ROUTE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type RouteOf<Operation extends string> = {
  readonly method: (typeof ROUTE_METHODS)[number]
  readonly path: string
  readonly operation: Operation
  /**
   * The permitted names of its query. Any other name is refused, because its wish would be ignored. Absent where
   * clients of other makers and probes add names of their own, that change nothing.
   */
  readonly query?: readonly string[]
}

/** A path that is known and not served yet: 501, where other unknown paths are 404. */
export type UnservedRoute = Pick<RouteOf<string>, 'method' | 'path'>

export type ProductContract<
  Operations extends Readonly<Record<string, Operation>> = Readonly<Record<string, Operation>>,
  Routes extends readonly RouteOf<keyof Operations & string>[] = readonly RouteOf<string>[],
> = {
  readonly operations: Operations
  readonly routes: Routes
  readonly unserved?: readonly UnservedRoute[]
}

/** A product's contract, with its names as types. */
export const defineProduct = <
  const Operations extends Readonly<Record<string, Operation>>,
  const Routes extends readonly RouteOf<keyof Operations & string>[],
>(
  contract: ProductContract<Operations, Routes>,
): ProductContract<Operations, Routes> => contract
