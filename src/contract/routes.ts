// Every HTTP binding of an operation. Other protocols bind theirs in folders of their own.
import { PRODUCTS, type OperationName } from './operations.ts'
import type { ProductContract, RouteOf, UnservedRoute } from './product.ts'

export type Route = RouteOf<OperationName>

export const ROUTES: readonly Route[] = PRODUCTS.flatMap(({ routes }) => routes as readonly Route[])

/** Paths of the interface and of OpenAI's API that are not served yet. */
export const UNSERVED_ROUTES: readonly UnservedRoute[] = PRODUCTS.flatMap(
  ({ unserved = [] }: ProductContract) => unserved,
)
